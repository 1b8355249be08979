// The reference's copies and fills of plain ranges: validation in the documented order, then bytes.
#include <algorithm>

#include "tests/model/model.h"

namespace sampan::model {
namespace {

constexpr std::size_t kMaxRows = 5242880;

enum class Direction { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kConflict, kOpen };

Direction Real(bool src_on_device, bool dst_on_device) {
  if (src_on_device) return dst_on_device ? Direction::kDeviceToDevice : Direction::kDeviceToHost;
  return dst_on_device ? Direction::kHostToDevice : Direction::kHostToHost;
}

/// The table of copy-2. kOpen: accepted, but what it then does with pageable memory is nowhere said.
Direction Resolve(int kind, bool src_on_device, bool src_pageable, bool dst_on_device, bool dst_pageable) {
  const Direction real = Real(src_on_device, dst_on_device);
  if (!src_pageable && !dst_pageable) return real;
  if (kind == ACL_MEMCPY_DEFAULT) return real;
  const auto given = static_cast<Direction>(kind);
  if (given == real) return real;
  if (src_pageable && dst_pageable) return Direction::kOpen;
  const bool accepted = real == Direction::kHostToHost
                            ? given == (src_pageable ? Direction::kDeviceToHost : Direction::kHostToDevice)
                            : given == Direction::kDeviceToDevice;
  return accepted ? Direction::kOpen : Direction::kConflict;
}

}  // namespace

Model::Site Model::Locate(const Address& address, std::size_t bytes) {
  Site site;
  if (address.slot == kWild) {
    site.pageable = true;
    site.usable = false;
    return site;
  }
  if (address.slot == kNull) {
    site.known = false;
    return site;
  }
  Buffer& buffer = buffers_[address.slot];
  site.buffer = &buffer;
  site.device_side = buffer.on_device();
  site.pageable = buffer.memory == Memory::kPageable;
  site.device = buffer.device;
  const bool starts_inside = address.offset < buffer.reach;
  const bool ends_inside = starts_inside && bytes <= buffer.reach - address.offset;
  if (buffer.unmapped || buffer.lost) {
    site.known = false;
  } else if (buffer.state == Buffer::State::kLive) {
    site.usable = ends_inside;
    // Behind a mapped buffer there is more of its last piece, behind a registered one more of the program's.
    const bool ends_sharply =
        !site.pageable && buffer.memory != Memory::kMapped && buffer.memory != Memory::kRegistered;
    site.known = ends_inside || (starts_inside && ends_sharply);
  } else {
    const bool of_runtime = buffer.memory == Memory::kDevice || buffer.memory == Memory::kPinned;
    site.usable = false;
    site.known = buffer.state == Buffer::State::kFreed && of_runtime && Dangling(buffer) && ends_inside;
  }
  return site;
}

bool Model::Overlap(const Address& dst, const Address& src, std::size_t bytes) {
  return dst.slot == src.slot && dst.slot >= 0 && dst.offset < src.offset + bytes &&
         src.offset < dst.offset + bytes;
}

bool Model::HasRight(const Buffer* buffer, int device, bool write) {
  if (buffer == nullptr || buffer->memory != Memory::kMapped) return true;
  const Rights rights = buffer->rights[device];
  return write ? rights == Rights::kAll : rights != Rights::kNone;
}

Verdict Model::Copy(const Operation& op) {
  if (op.bytes == 0) return Answer(ACL_SUCCESS);
  if (op.dst.slot == kNull || op.src.slot == kNull) return Answer(ACL_ERROR_INVALID_PARAM);
  if (op.kind < 0 || op.kind > ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) return Answer(ACL_ERROR_INVALID_PARAM);
  if (op.dst_max == 0 || op.bytes > op.dst_max) return Answer(ACL_ERROR_RT_PARAM_INVALID);
  const Site dst = Locate(op.dst, op.bytes);
  const Site src = Locate(op.src, op.bytes);
  if (!dst.known || !src.known) return Undetermined();
  if (!dst.usable || !src.usable) {
    return op.dst == op.src ? Undetermined() : Answer(ACL_ERROR_RT_PARAM_INVALID);
  }
  if (op.dst == op.src) return Answer(ACL_SUCCESS);
  if (Overlap(op.dst, op.src, op.bytes)) return Undetermined();
  if (dst.device_side && src.device_side && dst.device != src.device && !peer_[current_])
    return Answer(ACL_ERROR_RT_PARAM_INVALID);
  if (!dst.buffer->all_rights() || !src.buffer->all_rights()) return Undetermined();
  const std::vector<Touch> touches{{dst.buffer, op.dst.offset, op.dst.offset + op.bytes, true},
                                   {src.buffer, op.src.offset, op.src.offset + op.bytes, false}};
  Verdict verdict;
  if (!Ordered(touches, host(), verdict)) return verdict;
  DoNow(touches, Move(op.dst, op.src, op.bytes));
  return Answer(ACL_SUCCESS);
}

Verdict Model::CopyAsync(const Operation& op) {
  if (op.bytes == 0) return Answer(ACL_SUCCESS);
  if (op.dst.slot == kNull || op.src.slot == kNull) return Answer(ACL_ERROR_INVALID_PARAM);
  if (op.kind < 0 || op.kind > ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) return Answer(ACL_ERROR_INVALID_PARAM);
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (op.bytes > op.dst_max) return Answer(ACL_ERROR_RT_PARAM_INVALID);
  const Site dst = Locate(op.dst, op.bytes);
  const Site src = Locate(op.src, op.bytes);
  if (!dst.known || !src.known) return Undetermined();

  const bool captured = op.kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
  const bool drains = !captured && (dst.pageable || src.pageable);
  Codes codes;
  if (!dst.usable || !src.usable) codes.insert(ACL_ERROR_RT_PARAM_INVALID);
  if (captured) {
    if (src.device_side || !dst.device_side) codes.insert(ACL_ERROR_RT_PARAM_INVALID);
  } else {
    switch (Resolve(op.kind, src.device_side, src.pageable, dst.device_side, dst.pageable)) {
      case Direction::kOpen:
        return Undetermined();
      case Direction::kConflict:
        codes.insert(ACL_ERROR_RT_PARAM_INVALID);
        break;
      case Direction::kHostToHost:
        codes.insert(ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        break;
      case Direction::kDeviceToDevice:
        if (dst.device == src.device && dst.device != current_) return Undetermined();
        if (dst.device != src.device && !peer_[current_]) codes.insert(ACL_ERROR_RT_PARAM_INVALID);
        break;
      default:
        break;
    }
  }
  if (!drains && Foreign(*stream)) codes.insert(ACL_ERROR_RT_STREAM_CONTEXT);
  if (!HasRight(dst.buffer, current_, true) || !HasRight(src.buffer, current_, false)) {
    if (drains) return Undetermined();
    codes.insert(ACL_ERROR_RT_PARAM_INVALID);
  }
  if (drains && !MayDrain(*stream, verdict)) return verdict;
  if (op.dst == op.src || Overlap(op.dst, op.src, op.bytes)) {
    const bool nothing_to_do = op.dst == op.src && codes.empty();
    return nothing_to_do ? Answer(ACL_SUCCESS) : Undetermined();
  }
  if (const auto refusal = FromCodes(codes)) return *refusal;

  const Touch write{dst.buffer, op.dst.offset, op.dst.offset + op.bytes, true};
  const Touch read{src.buffer, op.src.offset, op.src.offset + op.bytes, false};
  Clock known = host();
  if (drains) known.Join(Last(*stream));
  if (drains || captured) {
    if (!Ordered({read}, known, verdict)) return verdict;
  }
  if (drains) {
    if (!Ordered({write}, known, verdict)) return verdict;
    host() = known;
    DoNow({write, read}, Move(op.dst, op.src, op.bytes));
    return Answer(ACL_SUCCESS);
  }
  std::vector<Touch> touches{write};
  if (!captured) touches.push_back(read);
  if (!MayQueue(*stream, touches, verdict)) return verdict;
  if (captured && forked_) DoNow({read}, nullptr);
  Task task;
  task.effect = Move(op.dst, op.src, op.bytes);
  Queue(*stream, touches, std::move(task));
  return Answer(ACL_SUCCESS);
}

bool Model::MayDrain(const Stream& stream, Verdict& verdict) const {
  if (MayHaveFailed(stream) || contexts_[stream.context].stop >= 0) return false;
  return HostCanWait(stream.last[thread_], verdict);
}

bool Model::LacksRights(const Site& site) {
  return site.buffer != nullptr && !site.buffer->all_rights();
}

Verdict Model::CopyRows(const Operation& op, bool async) {
  if (op.bytes == 0 || op.height == 0) return Answer(ACL_SUCCESS);
  if (op.dst.slot == kNull || op.src.slot == kNull) return Answer(ACL_ERROR_INVALID_PARAM);
  if (op.bytes > op.src_pitch || op.bytes > op.dst_pitch) return Answer(ACL_ERROR_INVALID_PARAM);
  if (op.kind < ACL_MEMCPY_HOST_TO_DEVICE || op.kind > ACL_MEMCPY_DEFAULT)
    return Answer(ACL_ERROR_INVALID_PARAM);
  Verdict verdict;
  Stream* stream = &defaults_[context_];
  if (async) stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (op.height > kMaxRows) return Answer(ACL_ERROR_RT_PARAM_INVALID);
  const Site dst = Locate(op.dst, op.dst_pitch * (op.height - 1) + op.bytes);
  const Site src = Locate(op.src, op.src_pitch * (op.height - 1) + op.bytes);
  if (!dst.known || !src.known) return Undetermined();
  const bool drains = async && (dst.pageable || src.pageable);
  Codes codes;
  if (!dst.usable || !src.usable) codes.insert(ACL_ERROR_RT_PARAM_INVALID);
  if (op.kind == ACL_MEMCPY_DEVICE_TO_DEVICE) {
    codes.insert(ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  } else {
    switch (Resolve(op.kind, src.device_side, src.pageable, dst.device_side, dst.pageable)) {
      case Direction::kOpen:
        return Undetermined();
      case Direction::kHostToDevice:
      case Direction::kDeviceToHost:
        break;
      default:
        codes.insert(ACL_ERROR_RT_PARAM_INVALID);
    }
  }
  if (async && !drains && Foreign(*stream)) codes.insert(ACL_ERROR_RT_STREAM_CONTEXT);
  if (drains && !MayDrain(*stream, verdict)) return verdict;
  if (LacksRights(dst) || LacksRights(src)) return Undetermined();
  if (const auto refusal = FromCodes(codes)) return *refusal;

  std::vector<Touch> touches;
  for (std::size_t row = 0; row < op.height; ++row) {
    const std::size_t to = op.dst.offset + row * op.dst_pitch;
    const std::size_t from = op.src.offset + row * op.src_pitch;
    touches.push_back({dst.buffer, to, to + op.bytes, true});
    touches.push_back({src.buffer, from, from + op.bytes, false});
  }
  Effect effect = [=](Image& image) {
    for (std::size_t row = 0; row < op.height; ++row) {
      MoveBytes(image, {op.dst.slot, op.dst.offset + row * op.dst_pitch},
                {op.src.slot, op.src.offset + row * op.src_pitch}, op.bytes);
    }
  };
  if (async && !drains) {
    if (!MayQueue(*stream, touches, verdict)) return verdict;
    Task task;
    task.effect = std::move(effect);
    Queue(*stream, touches, std::move(task));
    return Answer(ACL_SUCCESS);
  }
  Clock known = host();
  if (drains) known.Join(Last(*stream));
  if (!Ordered(touches, known, verdict)) return verdict;
  host() = known;
  DoNow(touches, std::move(effect));
  return Answer(ACL_SUCCESS);
}

Verdict Model::Flood(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr || Foreign(*stream) || op.bytes == 0 || op.height == 0) return Undetermined();
  const Site dst = Locate(op.dst, op.bytes);
  const Site src = Locate(op.src, op.bytes + op.height);
  const bool good = dst.known && dst.usable && src.known && src.usable && dst.buffer != nullptr &&
                    src.buffer != nullptr && !dst.pageable && !src.pageable && dst.buffer->all_rights() &&
                    src.buffer->all_rights() && dst.device_side != src.device_side;
  if (!good || contexts_[context_].stop >= 0) return Undetermined();
  const Clock next = Next(*stream);
  // What is held back must fit exactly: the caller would wait for room for ever.
  const bool only_gate = Outstanding(*stream) == 1 && !holds_.empty() &&
                         holds_.front().stream == stream->number && holds_.front().signal == kGate;
  if (MayBeHeld(*stream) && (!only_gate || Outstanding(*stream) + op.height > kQueueDepth)) {
    verdict.held = true;
    return verdict;
  }
  const std::vector<Touch> touches{
      {dst.buffer, op.dst.offset, op.dst.offset + op.bytes, true},
      {src.buffer, op.src.offset, op.src.offset + op.bytes + op.height - 1, false}};
  if (!Ordered(touches, next, verdict)) return verdict;
  Task task;
  task.kind = Task::Kind::kManyCopies;
  task.tick = stream->ticks[thread_] + static_cast<std::uint32_t>(op.height);
  task.effect = Move(op.dst, {op.src.slot, op.src.offset + op.height - 1}, op.bytes);
  Queue(*stream, touches, std::move(task));
  return Answer(ACL_SUCCESS);
}

Verdict Model::Fill(const Operation& op, bool async) {
  return FillWith(op, async, (op.value & 0xFF) * 0x01010101U);
}

Verdict Model::FillWith(const Operation& op, bool async, std::uint32_t pattern) {
  if (op.bytes == 0) return Answer(ACL_SUCCESS);
  if (op.dst.slot == kNull) return Answer(ACL_ERROR_INVALID_PARAM);
  Verdict verdict;
  Stream* stream = &defaults_[context_];
  if (async) stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (op.bytes > op.dst_max) return Answer(ACL_ERROR_RT_PARAM_INVALID);
  const Site dst = Locate(op.dst, op.bytes);
  if (!dst.known || (dst.device_side && dst.device != current_)) return Undetermined();
  Codes codes;
  if (!dst.usable) codes.insert(ACL_ERROR_RT_PARAM_INVALID);
  if (async && Foreign(*stream)) {
    if (!dst.device_side) return Undetermined();
    codes.insert(ACL_ERROR_RT_STREAM_CONTEXT);
  }
  if (LacksRights(dst)) return Undetermined();
  if (const auto refusal = FromCodes(codes)) return *refusal;
  const std::vector<Touch> touches{{dst.buffer, op.dst.offset, op.dst.offset + op.bytes, true}};
  Effect effect = [=, at = op.dst, bytes = op.bytes](Image& image) { FillBytes(image, at, bytes, pattern); };
  if (async && dst.device_side) {
    if (!MayQueue(*stream, touches, verdict)) return verdict;
    Task task;
    task.effect = std::move(effect);
    Queue(*stream, touches, std::move(task));
    return Answer(ACL_SUCCESS);
  }
  if (!Ordered(touches, host(), verdict)) return verdict;
  DoNow(touches, std::move(effect));
  return Answer(ACL_SUCCESS);
}

Verdict Model::FillWords(const Operation& op, bool async) {
  if (op.bytes == 0) return Answer(ACL_SUCCESS);
  if (op.dst.slot == kNull || op.dst.offset % 4 != 0) return Answer(ACL_ERROR_INVALID_PARAM);
  const std::size_t bytes = op.bytes * 4;
  if (op.dst_max < bytes) return Answer(ACL_ERROR_INVALID_PARAM);
  const Site dst = Locate(op.dst, bytes);
  if (!dst.known || dst.buffer == nullptr || dst.buffer->state != Buffer::State::kLive) return Undetermined();
  if (dst.pageable) return Answer(ACL_ERROR_INVALID_PARAM);
  Operation same = op;
  same.bytes = bytes;
  return FillWith(same, async, op.value);
}

}  // namespace sampan::model
