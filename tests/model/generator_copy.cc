// Random copies, and the mistakes that people make with them.
#include <algorithm>

#include "tests/model/generator.h"

namespace sampan::model {

void Generator::AddCopy() {
  Operation op = Make(dice_.Percent(25) ? Call::kCopy : Call::kCopyAsync);
  const bool peer = model_.peer_access(model_.current_device());
  int src = PickAnyBuffer();
  if (src == kNull) return;
  const bool src_on_device = model_.buffer(src).on_device();
  bool dst_on_device = !src_on_device;
  if (dice_.Percent(src_on_device ? 30 : 8)) dst_on_device = !dst_on_device;
  if (src_on_device && dst_on_device && !peer && dice_.Percent(85)) src = PickBuffer(true);
  const int dst = PickBuffer(dst_on_device, !(src_on_device && dst_on_device) || peer || dice_.Percent(15));
  if (src == kNull || dst == kNull) return;
  op.bytes = dice_.Between(1, std::min(model_.buffer(src).reach, model_.buffer(dst).reach));
  if (dice_.Percent(60))
    op.bytes = 1 + op.bytes % 300 % std::min(model_.buffer(src).reach, model_.buffer(dst).reach);
  op.src = PickRange(src, op.bytes);
  op.dst = PickRange(dst, op.bytes);
  op.dst_max = op.bytes + (dice_.Percent(50) ? 0 : dice_.Between(0, 100));
  op.stream = PickStream();
  const int real = src_on_device ? (dst_on_device ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST)
                                 : (dst_on_device ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_HOST_TO_HOST);
  const int choice = dice_.Below(10);
  op.kind = choice < 5 ? real : (choice < 8 ? static_cast<int>(ACL_MEMCPY_DEFAULT) : dice_.Below(6));
  if (dice_.Percent(10)) Spoil(op);
  Emit(op);
}

void Generator::AddRows() {
  const bool upwards = dice_.Percent(50);
  const int src = PickBuffer(!upwards, true);
  const int dst = PickBuffer(upwards, true);
  if (src == kNull || dst == kNull) return;
  Operation op = Make(dice_.Percent(30) ? Call::kCopyRows : Call::kCopyRowsAsync);
  const std::size_t src_reach = model_.buffer(src).reach, dst_reach = model_.buffer(dst).reach;
  op.bytes = dice_.Between(1, std::min({src_reach, dst_reach, std::size_t{200}}));
  op.src_pitch = op.bytes + (dice_.Percent(30) ? 0 : dice_.Between(0, 60));
  op.dst_pitch = op.bytes + (dice_.Percent(30) ? 0 : dice_.Between(0, 60));
  const std::size_t max_height =
      std::min((src_reach - op.bytes) / op.src_pitch, (dst_reach - op.bytes) / op.dst_pitch) + 1;
  op.height = dice_.Between(1, std::min<std::size_t>(max_height, 12));
  op.src = PickRange(src, op.src_pitch * (op.height - 1) + op.bytes);
  op.dst = PickRange(dst, op.dst_pitch * (op.height - 1) + op.bytes);
  op.stream = PickStream();
  const int real = upwards ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  op.kind =
      dice_.Percent(50) ? real : (dice_.Percent(70) ? static_cast<int>(ACL_MEMCPY_DEFAULT) : dice_.Below(8));
  if (dice_.Percent(12)) Spoil(op);
  Emit(op);
}

void Generator::AddBatch() {
  Operation op = Make(dice_.Percent(35) ? Call::kBatch : Call::kBatchAsync);
  const bool upwards = dice_.Percent(50);
  const int length = dice_.Below(100);
  const std::size_t count =
      length < 80 ? dice_.Between(1, 5) : (length < 92 ? dice_.Between(6, 14) : dice_.Between(15, 40));
  op.stream = PickStream();
  op.value = dice_.Percent(20) ? 1 : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int src = PickBuffer(!upwards, true);
    const int dst = PickBuffer(upwards, true);
    if (src == kNull || dst == kNull) return;
    Entry entry;
    const std::size_t max_bytes = std::min(model_.buffer(src).reach, model_.buffer(dst).reach);
    // Small pieces: entries of a batch must stay apart from each other.
    entry.bytes = dice_.Between(1, std::min(max_bytes, std::max<std::size_t>(max_bytes / count / 2, 1)));
    entry.dst_max = entry.bytes + dice_.Between(0, 10);
    entry.src = PickRange(src, entry.bytes);
    entry.dst = PickRange(dst, entry.bytes);
    // By chance alone, many entries would hardly ever stay apart.
    const std::size_t lane = model_.buffer(dst).reach / count;
    if (count >= 15 && lane >= entry.bytes)
      entry.dst.offset = i * lane + dice_.Between(0, lane - entry.bytes);
    op.entries.push_back(entry);
    Attribute attribute;
    attribute.first = i;
    const Buffer& on_device = model_.buffer(upwards ? dst : src);
    auto& device_side = upwards ? attribute.dst : attribute.src;
    auto& host_side = upwards ? attribute.src : attribute.dst;
    device_side = {static_cast<std::uint32_t>(on_device.device), ACL_MEM_LOCATION_TYPE_DEVICE};
    host_side = {static_cast<std::uint32_t>(dice_.Below(1000)),
                 dice_.Percent(80) ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_HOST_NUMA};
    const bool fresh = op.attributes.empty() || dice_.Percent(30);
    const bool same_device = !fresh && (upwards ? op.attributes.back().dst.id == attribute.dst.id
                                                : op.attributes.back().src.id == attribute.src.id);
    if (fresh || !same_device) op.attributes.push_back(attribute);
  }
  if (dice_.Percent(20)) SpoilBatch(op);
  Emit(op);
}

void Generator::AddFill() {
  static constexpr Call kCalls[] = {Call::kFill, Call::kFillAsync, Call::kFillAsync, Call::kFillWords,
                                    Call::kFillWordsAsync};
  Operation op = Make(kCalls[dice_.Below(5)]);
  const int dst = PickBuffer(dice_.Percent(75));
  if (dst == kNull) return;
  const bool words = op.call == Call::kFillWords || op.call == Call::kFillWordsAsync;
  const std::size_t reach = model_.buffer(dst).reach;
  op.value = static_cast<std::uint32_t>(dice_.Next());
  op.stream = PickStream();
  const std::size_t bytes = dice_.Between(1, reach);
  op.dst = PickRange(dst, bytes);
  op.bytes = bytes;
  if (words) {
    op.dst.offset = op.dst.offset / 4 * 4;
    op.bytes = bytes / 4;
  }
  op.dst_max = bytes + dice_.Between(0, 20);
  if (dice_.Percent(10)) Spoil(op);
  Emit(op);
}

void Generator::AddDescriptorStep() {
  static constexpr Call kCalls[] = {
      Call::kSetDescriptor,    Call::kSetDescriptor,    Call::kRewriteDescriptor, Call::kCopyDescriptor,
      Call::kLaunchDescriptor, Call::kLaunchDescriptor, Call::kLaunchDescriptor,  Call::kLaunchDescriptor};
  Operation op = Make(kCalls[dice_.Below(8)]);
  op.kind = dice_.Percent(96) ? static_cast<int>(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) : dice_.Below(9);
  op.slot = dice_.Below(kDescriptors);
  op.other_slot = dice_.Below(kDescriptors);
  op.stream = PickStream();
  for (int i = 0; i < kDescriptors && op.call == Call::kLaunchDescriptor && !model_.descriptor(op.slot).set;
       ++i) {
    op.slot = i;
  }
  if (op.call == Call::kLaunchDescriptor) {
    if (!model_.descriptor(op.slot).set) op.call = Call::kSetDescriptor;
    while (op.stream == kNull && model_.stream(0).live && dice_.Percent(95))
      op.stream = PickStream();
  }
  if (op.call == Call::kSetDescriptor || op.call == Call::kRewriteDescriptor) {
    const int src = PickBuffer(true);
    const int dst = PickBuffer(true);
    if (src == kNull || dst == kNull) return;
    op.bytes = dice_.Between(1, std::min(model_.buffer(src).reach, model_.buffer(dst).reach));
    op.src = PickRange(src, op.bytes);
    op.dst = PickRange(dst, op.bytes);
    if (op.call == Call::kRewriteDescriptor && dice_.Percent(20)) {
      // Operands that are found to be wrong only when the copy runs.
      const int choice = dice_.Below(4);
      if (choice == 0) op.bytes += model_.buffer(dst).reach;
      if (choice == 1) op.src = {kNull, 0};
      if (choice == 2) op.dst = {PickAnyBuffer(), 0};
      if (choice == 3) op.bytes = 0;
    }
    if (op.call == Call::kSetDescriptor && dice_.Percent(8)) op.dst = {PickAnyBuffer(), 0};
    if (Emit(op) && dice_.Percent(50)) {
      op.call = Call::kLaunchDescriptor;
      Emit(op);
    }
    return;
  }
  if (op.call == Call::kLaunchDescriptor && dice_.Percent(4)) op.stream = kWild;
  Emit(op);
}

void Generator::AddCellStep() {
  const int slot = dice_.Below(kCells);
  const bool both_set = model_.cell_set(slot) && model_.cell_set((slot + 1) % kCells);
  if (!both_set && dice_.Percent(60)) {
    for (const int cell : {slot, (slot + 1) % kCells}) {
      Operation set = Make(Call::kSetCell);
      set.slot = cell;
      set.dst = {PickBuffer(true), 0};
      if (set.dst.slot != kNull) Emit(set);
    }
    return;
  }
  Operation op =
      Make(both_set && dice_.Percent(75) ? Call::kCopyThroughCells
                                         : (dice_.Percent(50) ? Call::kSetCell : Call::kRewriteCell));
  op.stream = PickStream();
  op.kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
  op.slot = slot;
  op.other_slot = (slot + 1) % kCells;
  if (op.call != Call::kCopyThroughCells) {
    const int buffer = dice_.Percent(92) ? PickBuffer(true) : PickAnyBuffer();
    if (buffer == kNull) return;
    op.dst = PickRange(buffer, dice_.Between(1, model_.buffer(buffer).reach));
    Emit(op);
    return;
  }
  const Address dst = model_.cell(op.slot), src = model_.cell(op.other_slot);
  if (model_.buffer(dst.slot).reach <= dst.offset || model_.buffer(src.slot).reach <= src.offset) return;
  const std::size_t dst_room = model_.buffer(dst.slot).reach - dst.offset;
  const std::size_t src_room = model_.buffer(src.slot).reach - src.offset;
  op.bytes = dice_.Between(1, std::min(dst_room, src_room));
  op.dst.offset = dice_.Between(0, dst_room - op.bytes);
  op.src.offset = dice_.Between(0, src_room - op.bytes);
  op.dst_max = op.dst.offset + op.bytes + dice_.Between(0, 9);
  const int mistake = dice_.Below(25);
  if (mistake == 0) op.kind = dice_.Below(8);
  if (mistake == 1) op.stream = kWild;
  if (mistake == 2) op.dst_max = op.bytes - 1;
  if (mistake == 3) op.dst_max = op.dst.offset + op.bytes - 1;
  if (mistake == 4) op.src.offset = std::size_t{1} << 48;
  Emit(op);
}

void Generator::Spoil(Operation& op) {
  const auto some_freed = [&] {
    for (int slot = 0; slot < kBuffers; ++slot) {
      if (model_.buffer(slot).state == Buffer::State::kFreed) return slot;
    }
    return kNull;
  };
  Address& end = dice_.Percent(50) ? op.dst : op.src;
  switch (dice_.Below(9)) {
    case 0:
      end = {kNull, 0};
      break;
    case 1:
      end = {kWild, 0};
      break;
    case 2:
      end = {some_freed(), 0};
      break;
    case 3:
      op.stream = kWild;
      break;
    case 4:
      op.kind = dice_.Below(2) == 0 ? -1 : 6 + dice_.Below(4);
      break;
    case 5:
      op.dst_max = op.bytes - 1;
      break;
    case 6:
      op.bytes += 33;
      op.dst_max += 33;
      break;
    case 7:
      op.height = 5242881;
      break;
    case 8:
      end.offset += 40;
      break;
  }
}

void Generator::SpoilBatch(Operation& op) {
  const std::size_t at = dice_.Between(0, op.entries.size() - 1);
  Entry& entry = op.entries[at];
  const bool own_attribute = op.attributes.size() == op.entries.size();
  Attribute& attribute = op.attributes[own_attribute ? at : dice_.Between(0, op.attributes.size() - 1)];
  switch (dice_.Below(12)) {
    case 0:
      std::swap(entry.dst, entry.src);
      if (own_attribute) std::swap(attribute.dst, attribute.src);
      break;
    case 1:
      entry.dst = {kNull, 0};
      break;
    case 2:
      entry.src = {kWild, 0};
      break;
    case 3:
      entry.dst_max = entry.bytes - 1;
      break;
    case 4:
      entry.bytes = 0;
      break;
    case 5:
      entry.bytes += 70;
      entry.dst_max += 70;
      break;
    case 6:
      attribute.first += 1;
      break;
    case 7:
      attribute.dirty_reserve = true;
      break;
    case 8:
      attribute.dst.id ^= 1;
      attribute.src.id ^= 1;
      break;
    case 9:
      std::swap(attribute.dst, attribute.src);
      break;
    case 10:
      op.stream = kWild;
      break;
    case 11:
      op.attributes.clear();
      break;
  }
}

}  // namespace sampan::model
