// One copy of a replay, ready to be submitted.
#include "tools/sampan/replay/replay_copy.h"

#include <algorithm>
#include <array>
#include <optional>

namespace sampan::tool {
namespace {

using summary::Form;
using summary::Operation;

aclrtMemcpyKind KindOf(Operation operation) {
  switch (operation) {
    case Operation::kHostToHost:
      return ACL_MEMCPY_HOST_TO_HOST;
    case Operation::kHostToDevice:
      return ACL_MEMCPY_HOST_TO_DEVICE;
    case Operation::kDeviceToHost:
      return ACL_MEMCPY_DEVICE_TO_HOST;
    case Operation::kDeviceToDevice:
    case Operation::kFill:
    case Operation::kNone:
      break;
  }
  return ACL_MEMCPY_DEVICE_TO_DEVICE;
}

aclrtMemLocation LocationOf(std::int32_t device) {
  if (device < 0) return {0, ACL_MEM_LOCATION_TYPE_HOST};
  return {static_cast<std::uint32_t>(device), ACL_MEM_LOCATION_TYPE_DEVICE};
}

}  // namespace

std::vector<std::uint64_t> AllocationsOf(const ReplayPlan& plan, const ReplayStep& step) {
  std::vector<std::uint64_t> found;
  const auto add = [&](const ReplayPlace& place) {
    if (place.allocation != 0) found.push_back(place.allocation);
  };
  if (step.form == Form::kBatch) {
    for (const ReplayPiece& piece : plan.batches[step.detail]) {
      add(piece.dst);
      add(piece.src);
    }
  } else {
    add(step.dst);
    if (step.form != Form::kFill) add(step.src);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

ReplayCopy::ReplayCopy(const ReplayPlan& plan, const ReplayStep& step, const ReplayMemory& memory,
                       ReplayOperands& operands)
    : plan_(plan), step_(step), operands_(operands) {
  if (step.form == Form::kBatch) {
    for (const ReplayPiece& piece : plan.batches[step.detail]) {
      dsts_.push_back(memory.At(piece.dst));
      srcs_.push_back(memory.At(piece.src));
      sizes_.push_back(piece.bytes);
    }
    return;
  }
  dst_ = memory.At(step.dst);
  if (step.form != Form::kFill) src_ = memory.At(step.src);
}

aclError ReplayCopy::Issue(aclrtStream stream) const {
  constexpr int kFillValue = 1;
  const std::uint64_t bytes = step_.bytes;
  const aclrtMemcpyKind kind =
      step_.form == Form::kCaptured ? ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE : KindOf(step_.operation);
  if (step_.form == Form::kBatch) return IssueBatch(stream);
  if (step_.form == Form::kDescriptor || step_.form == Form::kOffset) return IssueIndirect(stream);
  if (step_.form == Form::kReduce) return IssueReduction(stream);
  if (step_.form == Form::kFill) {
    return step_.blocking ? ::aclrtMemset(dst_, bytes, kFillValue, bytes)
                          : ::aclrtMemsetAsync(dst_, bytes, kFillValue, bytes, stream);
  }
  if (step_.form == Form::kRows) {
    const ReplayRows& rows = plan_.rows[step_.detail];
    return step_.blocking
               ? ::aclrtMemcpy2d(dst_, rows.dst_pitch, src_, rows.src_pitch, rows.width, rows.height, kind)
               : ::aclrtMemcpy2dAsync(dst_, rows.dst_pitch, src_, rows.src_pitch, rows.width, rows.height,
                                      kind, stream);
  }
  return step_.blocking ? ::aclrtMemcpy(dst_, bytes, src_, bytes, kind)
                        : ::aclrtMemcpyAsync(dst_, bytes, src_, bytes, kind, stream);
}

aclError ReplayCopy::IssueIndirect(aclrtStream stream) const {
  constexpr aclrtMemcpyKind kKind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
  const ReplayEnds ends{dst_, src_, step_.bytes};
  if (step_.form == Form::kDescriptor) {
    void* descriptor = nullptr;
    const aclError code = operands_.Descriptor(ends, descriptor);
    return code == ACL_SUCCESS ? ::aclrtMemcpyAsyncWithDesc(descriptor, kKind, stream) : code;
  }
  void** cells = nullptr;
  const aclError code = operands_.Cells(ends, stream, cells);
  if (code != ACL_SUCCESS) return code;
  return ::aclrtMemcpyAsyncWithOffset(cells, step_.bytes, 0, const_cast<const void**>(cells) + 1, step_.bytes,
                                      0, kKind, stream);
}

aclError ReplayCopy::IssueReduction(aclrtStream stream) const {
  const ReplayReduction& reduction = plan_.reductions[step_.detail];
  const ReduceOperationRow& operation = RowOf(reduction.operation);
  const ReduceTypeRow& type = RowOf(reduction.element);
  if (operation.by_copy_engine && type.by_copy_engine) {
    return ::aclrtReduceAsync(dst_, src_, step_.bytes, static_cast<aclrtReduceKind>(operation.acl),
                              static_cast<aclDataType>(type.acl), stream, nullptr);
  }
  hccl::Stream hccl_stream(stream);
  const HcclResult result =
      HcclReduceAsync(operands_.Dispatcher(), src_, step_.bytes / type.bytes,
                      static_cast<HcclDataType>(type.hccl), static_cast<HcclReduceOp>(operation.hccl),
                      hccl_stream, dst_, INVALID_VALUE_RANKID, hccl::LinkType::LINK_ONCHIP, 0);
  return result == HCCL_SUCCESS ? ACL_SUCCESS : ACL_ERROR_FEATURE_UNSUPPORTED;
}

aclError ReplayCopy::IssueBatch(aclrtStream stream) const {
  aclrtMemcpyBatchAttr attribute{};
  attribute.dstLoc = LocationOf(step_.dst_device);
  attribute.srcLoc = LocationOf(step_.src_device);
  std::size_t first = 0;
  std::size_t failed = 0;
  if (step_.blocking) {
    return ::aclrtMemcpyBatch(dsts_.data(), sizes_.data(), srcs_.data(), sizes_.data(), sizes_.size(),
                              &attribute, &first, 1, &failed);
  }
  return ::aclrtMemcpyBatchAsync(dsts_.data(), sizes_.data(), srcs_.data(), sizes_.data(), sizes_.size(),
                                 &attribute, &first, 1, &failed, stream);
}

}  // namespace sampan::tool
