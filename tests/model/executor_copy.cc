// Runs programs: the copy calls.
#include <cstring>

#include "tests/model/executor.h"

namespace sampan::model {
namespace {

constexpr std::size_t kUntouched = 0x5EED;
constexpr std::size_t kOperandsAt = 12;

/// What a program writes over a descriptor: the part of it that is documented.
struct __attribute__((packed)) DescriptorOperands {
  std::uint32_t bytes;
  std::uint64_t src, dst;
};

/// Something that is no handle.
std::uint64_t not_a_handle[8];

}  // namespace

void* Executor::At(const Address& address) const {
  if (address.slot == kNull) return nullptr;
  if (address.slot == kWild) return reinterpret_cast<void*>(std::uintptr_t{0x2000} + address.offset);
  return static_cast<std::uint8_t*>(buffers_[address.slot].address) + address.offset;
}

aclrtStream Executor::StreamAt(int slot) const {
  if (slot == kNull) return nullptr;
  if (slot != kWild) return streams_[slot];
  for (int event = 0; event < kEvents; ++event) {
    if (model_.event(event).live) return events_[event];
  }
  return not_a_handle;
}

aclrtEvent Executor::EventAt(int slot) const {
  if (slot == kNull) return nullptr;
  if (slot != kWild) return events_[slot];
  for (int stream = 0; stream < kStreams; ++stream) {
    if (model_.stream(stream).live) return streams_[stream];
  }
  return not_a_handle;
}

void* Executor::DescriptorAt(int slot) const {
  auto* table = static_cast<std::uint8_t*>(tables_[model_.current_device()].memory);
  return table + static_cast<std::size_t>(slot) * kDescriptorStride;
}

void* Executor::CellAt(int slot) const {
  auto* table = static_cast<std::uint8_t*>(tables_[model_.current_device()].memory);
  return table + kDescriptors * kDescriptorStride + static_cast<std::size_t>(slot) * 8;
}

void* Executor::WordAt(int slot) const {
  auto* table = static_cast<std::uint8_t*>(tables_[model_.current_device()].memory);
  return table + kDescriptors * kDescriptorStride + kCells * 8 + static_cast<std::size_t>(slot) * 8;
}

void* Executor::Stage(const void* bytes, std::size_t count) {
  if (staged_ + count > kStagingBytes) return nullptr;
  void* const place = static_cast<std::uint8_t*>(staging_) + staged_;
  std::memcpy(place, bytes, count);
  staged_ += (count + 31) / 32 * 32;
  return place;
}

aclError Executor::PerformCopy(const Operation& op) {
  const auto kind = static_cast<aclrtMemcpyKind>(op.kind);
  void* const dst = At(op.dst);
  const void* const src = At(op.src);
  const std::size_t bytes = sabotage_ == Sabotage::kShortenCopies && op.bytes > 1 ? op.bytes - 1 : op.bytes;
  switch (op.call) {
    case Call::kCopy:
      return aclrtMemcpy(dst, op.dst_max, src, bytes, kind);
    case Call::kCopyAsync:
      return aclrtMemcpyAsync(dst, op.dst_max, src, bytes, kind, StreamAt(op.stream));
    case Call::kCopyRows:
      return aclrtMemcpy2d(dst, op.dst_pitch, src, op.src_pitch, bytes, op.height, kind);
    default:
      return aclrtMemcpy2dAsync(dst, op.dst_pitch, src, op.src_pitch, bytes, op.height, kind,
                                StreamAt(op.stream));
  }
}

aclError Executor::Flood(const Operation& op) {
  const std::size_t count = op.height - (sabotage_ == Sabotage::kShortenFloods ? 1 : 0);
  aclError code = ACL_SUCCESS;
  for (std::size_t i = 0; i < count && code == ACL_SUCCESS; ++i) {
    const auto* const src = static_cast<const std::uint8_t*>(At(op.src)) + i;
    code = aclrtMemcpyAsync(At(op.dst), op.bytes, src, op.bytes, ACL_MEMCPY_DEFAULT, StreamAt(op.stream));
  }
  return code;
}

Executor::Answered Executor::Batch(const Operation& op, const Verdict& expected) {
  const std::size_t count = op.entries.size();
  std::vector<void*> dsts(count + 1), srcs(count + 1);
  std::vector<std::size_t> maxima(count + 1), sizes(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    dsts[i] = At(op.entries[i].dst);
    srcs[i] = At(op.entries[i].src);
    maxima[i] = op.entries[i].dst_max;
    sizes[i] = op.entries[i].bytes;
  }
  if (sabotage_ == Sabotage::kShortenLongBatches && count >= 15 && sizes[count - 1] > 1) --sizes[count - 1];
  std::vector<aclrtMemcpyBatchAttr> attributes(op.attributes.size() + 1);
  std::vector<std::size_t> indexes(op.attributes.size() + 1);
  for (std::size_t k = 0; k < op.attributes.size(); ++k) {
    attributes[k].dstLoc = op.attributes[k].dst;
    attributes[k].srcLoc = op.attributes[k].src;
    attributes[k].rsv[15] = op.attributes[k].dirty_reserve ? 1 : 0;
    indexes[k] = op.attributes[k].first;
  }
  std::size_t fail_index = kUntouched;
  const bool async = op.call == Call::kBatchAsync;
  const bool plain = op.value == 0;
  const aclrtStream stream = async ? StreamAt(op.stream) : nullptr;
  aclError code;
  if (async && plain) {
    code =
        aclrtMemcpyBatchAsync(dsts.data(), maxima.data(), srcs.data(), sizes.data(), count, attributes.data(),
                              indexes.data(), op.attributes.size(), &fail_index, stream);
  } else if (async) {
    code = aclrtMemcpyBatchAsyncV2(dsts.data(), maxima.data(), srcs.data(), sizes.data(), count,
                                   attributes.data(), indexes.data(), op.attributes.size(), stream);
  } else if (plain) {
    code = aclrtMemcpyBatch(dsts.data(), maxima.data(), srcs.data(), sizes.data(), count, attributes.data(),
                            indexes.data(), op.attributes.size(), &fail_index);
  } else {
    code = aclrtMemcpyBatchV2(dsts.data(), maxima.data(), srcs.data(), sizes.data(), count, attributes.data(),
                              indexes.data(), op.attributes.size());
  }
  const std::size_t expected_index = plain ? expected.fail_index.value_or(kUntouched) : kUntouched;
  if (code == expected.code && fail_index == expected_index) return {code, ""};
  std::string text = "answered " + std::to_string(code) + ", failIndex " + std::to_string(fail_index) +
                     " instead of " + std::to_string(expected.code) + ", failIndex " +
                     std::to_string(expected_index);
  if (code != ACL_SUCCESS && aclGetRecentErrMsg() != nullptr)
    text += "; " + std::string(aclGetRecentErrMsg(), 0, 400);
  return {code, text};
}

aclError Executor::Fill(const Operation& op) {
  void* const dst = At(op.dst);
  const auto value = static_cast<std::int32_t>(op.value);
  switch (op.call) {
    case Call::kFill:
      return aclrtMemset(dst, op.dst_max, value, op.bytes);
    case Call::kFillAsync:
      return aclrtMemsetAsync(dst, op.dst_max, value, op.bytes, StreamAt(op.stream));
    case Call::kFillWords:
      return aclrtMemsetD32(dst, op.dst_max, op.value, op.bytes);
    default:
      return aclrtMemsetD32Async(dst, op.dst_max, op.value, op.bytes, StreamAt(op.stream));
  }
}

aclError Executor::Indirect(const Operation& op) {
  const auto kind = static_cast<aclrtMemcpyKind>(op.kind);
  const aclrtStream stream = StreamAt(op.stream);
  auto* const operands_at = static_cast<std::uint8_t*>(DescriptorAt(op.slot)) + kOperandsAt;
  switch (op.call) {
    case Call::kSetDescriptor:
      return aclrtSetMemcpyDesc(DescriptorAt(op.slot), kind, At(op.src), At(op.dst), op.bytes, nullptr);
    case Call::kRewriteDescriptor: {
      const DescriptorOperands operands{static_cast<std::uint32_t>(op.bytes),
                                        reinterpret_cast<std::uint64_t>(At(op.src)),
                                        reinterpret_cast<std::uint64_t>(At(op.dst))};
      return aclrtMemcpyAsync(operands_at, sizeof(operands), Stage(&operands, sizeof(operands)),
                              sizeof(operands), ACL_MEMCPY_HOST_TO_DEVICE, stream);
    }
    case Call::kCopyDescriptor: {
      const auto* const from = static_cast<std::uint8_t*>(DescriptorAt(op.other_slot)) + kOperandsAt;
      return aclrtMemcpyAsync(operands_at, sizeof(DescriptorOperands), from, sizeof(DescriptorOperands),
                              ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
    }
    case Call::kLaunchDescriptor:
      return aclrtMemcpyAsyncWithDesc(DescriptorAt(op.slot), kind, stream);
    case Call::kSetCell: {
      const void* const address = At(op.dst);
      return aclrtMemcpy(CellAt(op.slot), sizeof(address), &address, sizeof(address),
                         ACL_MEMCPY_HOST_TO_DEVICE);
    }
    case Call::kRewriteCell: {
      const void* const address = At(op.dst);
      return aclrtMemcpyAsync(CellAt(op.slot), sizeof(address), Stage(&address, sizeof(address)),
                              sizeof(address), ACL_MEMCPY_HOST_TO_DEVICE, stream);
    }
    default:
      return aclrtMemcpyAsyncWithOffset(static_cast<void**>(CellAt(op.slot)), op.dst_max, op.dst.offset,
                                        static_cast<const void**>(CellAt(op.other_slot)), op.bytes,
                                        op.src.offset, kind, stream);
  }
}

}  // namespace sampan::model
