// The reference's memory, and the order of its uses.
#include "tests/model/model.h"

#include <algorithm>

namespace sampan::model {
namespace {

std::size_t RoundUp32(std::size_t bytes) {
  return (bytes + 31) / 32 * 32;
}

}  // namespace

std::uint8_t InitialByte(int slot, std::size_t offset) {
  return static_cast<std::uint8_t>(offset * 7 + offset / 251 + static_cast<std::size_t>(slot) * 41 + 3);
}

Model::Model() {
  for (int device = 0; device < kDevices; ++device) {
    Stream& stream = defaults_[device];
    stream.created = stream.live = true;
    stream.device = device;
    stream.number = streams_made_++;
  }
}

Verdict Model::Answer(aclError code) {
  Verdict verdict;
  verdict.admitted = true;
  verdict.code = code;
  return verdict;
}

std::optional<Verdict> Model::FromCodes(const Codes& codes) {
  if (codes.empty()) return std::nullopt;
  return codes.size() == 1 ? Answer(*codes.begin()) : Undetermined();
}

Verdict Model::Apply(const Operation& op) {
  switch (op.call) {
    case Call::kUseDevice:
      return UseDevice(op);
    case Call::kSetPeerAccess:
      return SetPeerAccess(op);
    case Call::kAllocate:
      return Allocate(op);
    case Call::kFree:
      return Free(op);
    case Call::kCreateStream:
      return CreateStream(op);
    case Call::kDestroyStream:
      return DestroyStream(op);
    case Call::kCreateEvent:
      return CreateEvent(op);
    case Call::kDestroyEvent:
      return DestroyEvent(op);
    case Call::kRecord:
      return Record(op);
    case Call::kWait:
      return Wait(op);
    case Call::kResetEvent:
      return ResetEvent(op);
    case Call::kSyncStream:
      return SyncStream(op);
    case Call::kSyncEvent:
      return SyncEvent(op);
    case Call::kSyncDevice:
      return SyncDevice();
    case Call::kQueryStream:
      return QueryStream(op);
    case Call::kQueryEvent:
      return QueryEvent(op);
    case Call::kCloseGate:
      return CloseGate(op);
    case Call::kOpenGate:
      return OpenGate();
    case Call::kHostFunction:
      return HostFunction(op);
    case Call::kCopy:
      return Copy(op);
    case Call::kCopyAsync:
      return CopyAsync(op);
    case Call::kCopyRows:
      return CopyRows(op, false);
    case Call::kCopyRowsAsync:
      return CopyRows(op, true);
    case Call::kBatch:
      return Batch(op, false);
    case Call::kBatchAsync:
      return Batch(op, true);
    case Call::kFill:
      return Fill(op, false);
    case Call::kFillAsync:
      return Fill(op, true);
    case Call::kFillWords:
      return FillWords(op, false);
    case Call::kFillWordsAsync:
      return FillWords(op, true);
    case Call::kSetDescriptor:
      return SetDescriptor(op);
    case Call::kRewriteDescriptor:
      return RewriteDescriptor(op);
    case Call::kCopyDescriptor:
      return CopyDescriptor(op);
    case Call::kLaunchDescriptor:
      return LaunchDescriptor(op);
    case Call::kSetCell:
      return SetCell(op);
    case Call::kRewriteCell:
      return RewriteCell(op);
    case Call::kCopyThroughCells:
      return CopyThroughCells(op);
    case Call::kVerify:
      return Verify(op);
  }
  return Undetermined();
}

Stream* Model::FindStream(int slot, Verdict& verdict) {
  if (slot == kNull) return &defaults_[current_];
  if (slot != kWild && !streams_[slot].created) return nullptr;
  if (slot != kWild && streams_[slot].live) return &streams_[slot];
  verdict = Answer(ACL_ERROR_RT_INVALID_HANDLE);
  return nullptr;
}

Event* Model::FindEvent(int slot, Verdict& verdict) {
  if (slot == kNull) {
    verdict = Answer(ACL_ERROR_INVALID_PARAM);
    return nullptr;
  }
  if (slot != kWild && !events_[slot].created) return nullptr;
  if (slot != kWild && events_[slot].live) return &events_[slot];
  verdict = Answer(ACL_ERROR_RT_INVALID_HANDLE);
  return nullptr;
}

bool Model::Ordered(const std::vector<Touch>& touches, const Clock& seen, Verdict& verdict) const {
  for (const Touch& touch : touches) {
    for (const Access& access : touch.buffer->accesses) {
      const bool apart = access.end <= touch.begin || touch.end <= access.begin;
      if (apart || (!access.write && !touch.write) || seen.Covers(access.stream, access.tick)) continue;
      verdict.unordered_with.push_back(access.stream);
    }
  }
  return verdict.unordered_with.empty();
}

bool Model::HostCanWait(const Clock& clock, Verdict& verdict) const {
  verdict.held = Held(clock);
  return !verdict.held;
}

Clock Model::Next(const Stream& stream) const {
  Clock clock = stream.clock;
  clock.Join(host_);
  return clock;
}

void Model::Queue(Stream& stream, const std::vector<Touch>& touches) {
  stream.clock.Join(host_);
  stream.clock.Reach(stream.number, ++stream.tick);
  for (const Touch& touch : touches) {
    std::erase_if(touch.buffer->accesses, [&](const Access& a) { return host_.Covers(a.stream, a.tick); });
    touch.buffer->accesses.push_back({stream.number, stream.tick, touch.begin, touch.end, touch.write});
  }
}

Verdict Model::UseDevice(const Operation& op) {
  current_ = op.device;
  return Answer(ACL_SUCCESS);
}

Verdict Model::SetPeerAccess(const Operation& op) {
  const bool enable = op.value != 0;
  if (peer_[current_] == enable) return Undetermined();
  peer_[current_] = enable;
  return Answer(ACL_SUCCESS);
}

Verdict Model::Allocate(const Operation& op) {
  Buffer& buffer = buffers_[op.slot];
  if (buffer.state == Buffer::State::kLive) return Undetermined();
  if (op.bytes == 0) return op.memory == Memory::kDevice ? Answer(ACL_ERROR_INVALID_PARAM) : Undetermined();
  buffer = Buffer{};
  buffer.serial = ++allocations_;
  buffer.state = Buffer::State::kLive;
  buffer.memory = op.memory;
  buffer.device = current_;
  const bool rounded =
      op.memory == Memory::kDevice || op.memory == Memory::kPinned || op.memory == Memory::kPool;
  buffer.reach = rounded ? RoundUp32(op.bytes) : op.bytes;
  buffer.bytes.resize(buffer.reach);
  for (std::size_t i = 0; i < buffer.reach; ++i)
    buffer.bytes[i] = InitialByte(op.slot, i);
  return Answer(ACL_SUCCESS);
}

Verdict Model::Free(const Operation& op) {
  if (op.dst.slot == kNull) {
    return op.memory == Memory::kDevice || op.memory == Memory::kPinned ? Answer(ACL_ERROR_INVALID_PARAM)
                                                                        : Undetermined();
  }
  Buffer& buffer = buffers_[op.dst.slot];
  if (buffer.state == Buffer::State::kNever || !buffer.known_to_runtime()) {
    if (buffer.state != Buffer::State::kLive || op.memory != Memory::kPageable || op.dst.offset != 0) {
      return Undetermined();
    }
  }
  const bool mistake =
      op.dst.offset != 0 || buffer.state == Buffer::State::kFreed || op.memory != buffer.memory;
  if (mistake) {
    const bool again =
        buffer.state == Buffer::State::kFreed && Dangling(buffer) && op.memory == buffer.memory;
    const bool interior =
        buffer.state == Buffer::State::kLive && op.memory == buffer.memory && op.dst.offset < buffer.reach;
    const bool device_as_host = buffer.state == Buffer::State::kLive && op.memory == Memory::kPinned &&
                                buffer.memory == Memory::kDevice && op.dst.offset == 0;
    const bool runtime_memory = buffer.memory == Memory::kDevice || buffer.memory == Memory::kPinned;
    const bool determined = runtime_memory && op.value == 0 && (again || interior || device_as_host);
    return determined ? Answer(ACL_ERROR_RT_PARAM_INVALID) : Undetermined();
  }
  Verdict verdict;
  Clock known = host_;
  const bool syncs = op.value != 0 && (op.memory == Memory::kDevice || op.memory == Memory::kPinned);
  if (syncs) {
    const auto work = ContextWork(verdict);
    if (!work) return verdict;
    known.Join(*work);
  }
  if (!Ordered({{&buffer, 0, buffer.reach, true}}, known, verdict)) return verdict;
  host_ = known;
  buffer.state = Buffer::State::kFreed;
  buffer.freed_at = allocations_;
  buffer.accesses.clear();
  return Answer(ACL_SUCCESS);
}

Verdict Model::HostFunction(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  const Site site = Locate(op.dst, op.bytes);
  if (!site.known || !site.usable || site.device_side || site.buffer == nullptr) return Undetermined();
  Buffer& buffer = *site.buffer;
  const std::vector<Touch> touches{{&buffer, op.dst.offset, op.dst.offset + op.bytes, true}};
  if (!Ordered(touches, Next(*stream), verdict)) return verdict;
  Queue(*stream, touches);
  for (std::size_t i = 0; i < op.bytes; ++i) {
    std::uint8_t& byte = buffer.bytes[op.dst.offset + i];
    byte = static_cast<std::uint8_t>(byte + op.value);
  }
  return Answer(ACL_SUCCESS);
}

Verdict Model::Verify(const Operation& op) {
  Buffer& buffer = buffers_[op.slot];
  if (buffer.state != Buffer::State::kLive) return Undetermined();
  Verdict verdict;
  if (!Ordered({{&buffer, 0, buffer.reach, false}}, host_, verdict)) return verdict;
  return Answer(ACL_SUCCESS);
}

}  // namespace sampan::model
