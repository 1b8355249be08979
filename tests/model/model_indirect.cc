// The reference's copies whose operands lie in device memory and are read when the copy executes.
#include "tests/model/model.h"

namespace sampan::model {
namespace {

constexpr int kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
constexpr std::size_t kMaxOffset = 0xFFFFFFFFFFFFULL;
/// The operands of a descriptor: length, source, destination. The bytes before them belong to the runtime.
constexpr std::size_t kOperandsBegin = 12, kOperandsEnd = 32;

std::size_t CellAt(int slot) {
  return kDescriptors * kDescriptorStride + static_cast<std::size_t>(slot) * 8;
}

/// Tables are touched as one buffer; descriptors come first, cells behind them.
Touch DescriptorTouch(Buffer& table, int slot, bool write) {
  const std::size_t at = static_cast<std::size_t>(slot) * kDescriptorStride;
  return {&table, at + kOperandsBegin, at + kOperandsEnd, write};
}
Touch CellTouch(Buffer& table, int slot, bool write) {
  return {&table, CellAt(slot), CellAt(slot) + 8, write};
}

}  // namespace

std::optional<StoredAddress> Model::Store(const Address& address) const {
  if (address.slot == kNull) return StoredAddress{address, 0};
  if (address.slot == kWild || buffers_[address.slot].state != Buffer::State::kLive) return std::nullopt;
  return StoredAddress{address, buffers_[address.slot].serial};
}

void Model::ForgetOperands(const Use& use) {
  Table& table = tables_[use.serial - kTableSerial];
  for (int slot = 0; slot < kDescriptors; ++slot) {
    const Touch touch = DescriptorTouch(table.memory, slot, true);
    if (touch.begin < use.end && use.begin < touch.end) table.descriptors[slot].set = false;
  }
  for (int slot = 0; slot < kCells; ++slot) {
    if (CellAt(slot) < use.end && use.begin < CellAt(slot) + 8) table.cells[slot].reset();
  }
}

Verdict Model::SetDescriptor(const Operation& op) {
  if (op.kind < 0 || op.kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) return Answer(ACL_ERROR_INVALID_PARAM);
  if (op.src.slot == kNull || op.dst.slot == kNull || op.bytes == 0) return Answer(ACL_ERROR_INVALID_PARAM);
  if (op.kind != kInner) return Answer(ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  const Site src = Locate(op.src, op.bytes);
  const Site dst = Locate(op.dst, op.bytes);
  // Whether the length is compared with the allocations here already is left open.
  if (!src.known || !dst.known || !src.usable || !dst.usable) return Undetermined();
  if (!src.device_side || !dst.device_side || src.device != dst.device)
    return Answer(ACL_ERROR_RT_PARAM_INVALID);
  if (src.device != current_ || Overlap(op.dst, op.src, op.bytes)) return Undetermined();
  Table& table = tables_[current_];
  Verdict verdict;
  const Touch touch = DescriptorTouch(table.memory, op.slot, true);
  if (!Ordered({touch}, host(), verdict)) return verdict;
  if (forked_) DoNow({touch}, nullptr);
  table.descriptors[op.slot] = {true, *Store(op.src), *Store(op.dst), op.bytes};
  return Answer(ACL_SUCCESS);
}

Verdict Model::RewriteDescriptor(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr || Foreign(*stream) || StopsBefore(*stream)) return Undetermined();
  const auto src = Store(op.src);
  const auto dst = Store(op.dst);
  if (!src || !dst) return Undetermined();
  Table& table = tables_[current_];
  const Touch touch = DescriptorTouch(table.memory, op.slot, true);
  if (!MayQueue(*stream, {touch}, verdict)) return verdict;
  Queue(*stream, {touch});
  table.descriptors[op.slot] = {true, *src, *dst, op.bytes};
  return Answer(ACL_SUCCESS);
}

Verdict Model::CopyDescriptor(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr || Foreign(*stream) || StopsBefore(*stream) || op.slot == op.other_slot)
    return Undetermined();
  Table& table = tables_[current_];
  const std::vector<Touch> touches{DescriptorTouch(table.memory, op.slot, true),
                                   DescriptorTouch(table.memory, op.other_slot, false)};
  if (!table.descriptors[op.other_slot].set) return Undetermined();
  if (!MayQueue(*stream, touches, verdict)) return verdict;
  Queue(*stream, touches);
  table.descriptors[op.slot] = table.descriptors[op.other_slot];
  return Answer(ACL_SUCCESS);
}

Verdict Model::LaunchDescriptor(const Operation& op) {
  if (op.kind < 0 || op.kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) return Answer(ACL_ERROR_INVALID_PARAM);
  if (op.stream == kNull) return Answer(ACL_ERROR_INVALID_PARAM);
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (op.kind != kInner) return Answer(ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  Table& table = tables_[current_];
  const Descriptor& descriptor = table.descriptors[op.slot];
  if (!descriptor.set) return Undetermined();
  return CopyIndirect(*stream, {DescriptorTouch(table.memory, op.slot, false)}, descriptor);
}

Verdict Model::SetCell(const Operation& op) {
  const auto stored = Store(op.dst);
  if (!stored) return Undetermined();
  Table& table = tables_[current_];
  Verdict verdict;
  const Touch touch = CellTouch(table.memory, op.slot, true);
  if (!Ordered({touch}, host(), verdict)) return verdict;
  if (forked_) DoNow({touch}, nullptr);
  table.cells[op.slot] = stored;
  return Answer(ACL_SUCCESS);
}

Verdict Model::RewriteCell(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  const auto stored = Store(op.dst);
  if (stream == nullptr || Foreign(*stream) || StopsBefore(*stream) || !stored) return Undetermined();
  Table& table = tables_[current_];
  const Touch touch = CellTouch(table.memory, op.slot, true);
  if (!MayQueue(*stream, {touch}, verdict)) return verdict;
  Queue(*stream, {touch});
  table.cells[op.slot] = stored;
  return Answer(ACL_SUCCESS);
}

Verdict Model::CopyThroughCells(const Operation& op) {
  if (op.bytes == 0) return Answer(ACL_SUCCESS);
  if (op.kind != kInner) return Answer(ACL_ERROR_RT_PARAM_INVALID);
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  const bool refused = op.bytes > op.dst_max || op.bytes > (1ULL << 32) || op.src.offset > kMaxOffset ||
                       op.dst.offset > kMaxOffset || op.dst.offset >= op.dst_max ||
                       op.bytes > op.dst_max - op.dst.offset;
  if (refused) return Answer(ACL_ERROR_RT_PARAM_INVALID);
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  Table& table = tables_[current_];
  const auto& dst = table.cells[op.slot];
  const auto& src = table.cells[op.other_slot];
  if (!dst || !src) return Undetermined();
  Descriptor copy{true, *src, *dst, op.bytes};
  copy.src.address.offset += op.src.offset;
  copy.dst.address.offset += op.dst.offset;
  return CopyIndirect(
      *stream, {CellTouch(table.memory, op.slot, false), CellTouch(table.memory, op.other_slot, false)},
      copy);
}

Verdict Model::CopyIndirect(Stream& stream, const std::vector<Touch>& operands, const Descriptor& copy) {
  Verdict verdict;
  const Address &src = copy.src.address, &dst = copy.dst.address;
  std::vector<Touch> touches = operands;
  bool good = true;
  for (const StoredAddress& stored : {copy.src, copy.dst}) {
    const Address& address = stored.address;
    if (address.slot == kNull) {
      good = false;
      continue;
    }
    const Buffer& buffer = buffers_[address.slot];
    const bool same = buffer.state == Buffer::State::kLive && buffer.serial == stored.serial;
    if (!same || buffer.unmapped || buffer.lost || address.offset >= buffer.reach) return Undetermined();
    // Rights count when the copy runs.
    if (!HasRight(&buffer, stream.device, true)) return Undetermined();
    const bool fits = copy.bytes <= buffer.reach - address.offset;
    // Behind a mapped buffer there is more of its last piece.
    if (!fits && buffer.memory == Memory::kMapped) return Undetermined();
    good = good && buffer.on_device() && buffer.device == stream.device && fits;
  }
  if (copy.bytes == 0) {
    if (!good) return Undetermined();
  } else if (good) {
    if (Overlap(dst, src, copy.bytes)) return Undetermined();
    touches.push_back({&buffers_[src.slot], src.offset, src.offset + copy.bytes, false});
    touches.push_back({&buffers_[dst.slot], dst.offset, dst.offset + copy.bytes, true});
  } else {
    // Whatever the operands name must still be there when they are read.
    for (const Address& address : {src, dst}) {
      if (address.slot != kNull)
        touches.push_back({&buffers_[address.slot], 0, buffers_[address.slot].reach, false});
    }
  }
  if (!MayQueue(stream, touches, verdict)) return verdict;
  Task task;
  task.kind = Task::Kind::kIndirect;
  if (!good) {
    task.failure = ACL_ERROR_RT_SYS_DMA;
  } else if (copy.bytes != 0) {
    task.effect = Move(dst, src, copy.bytes);
  }
  Queue(stream, touches, std::move(task));
  return Answer(ACL_SUCCESS);
}

}  // namespace sampan::model
