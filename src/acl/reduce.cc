// Copies that combine the source into the destination.
#include <cstdint>
#include <optional>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "base/platform_bridge.h"
#include "core/copy_plan.h"

namespace sampan::acl {
namespace {

constexpr std::uint64_t kMostReducedBytes = std::uint64_t{4} << 30;

std::optional<ReduceElement> ElementOf(aclDataType type) {
  switch (type) {
    case ACL_INT8:
      return ReduceElement::kInt8;
    case ACL_INT16:
      return ReduceElement::kInt16;
    case ACL_INT32:
      return ReduceElement::kInt32;
    case ACL_FLOAT16:
      return ReduceElement::kHalf;
    case ACL_FLOAT:
      return ReduceElement::kFloat;
    case ACL_BF16:
      return ReduceElement::kBrainFloat;
    default:
      return std::nullopt;
  }
}

std::optional<ReduceOperation> OperationOf(aclrtReduceKind kind) {
  switch (kind) {
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM:
      return ReduceOperation::kSum;
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX:
      return ReduceOperation::kMax;
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN:
      return ReduceOperation::kMin;
    default:
      return std::nullopt;
  }
}

Status Submit(const StreamCall& call, const ReduceRequest& request) {
  const std::size_t element_bytes = ElementBytes(request.element);
  if (request.bytes == 0 || request.bytes % element_bytes != 0 || request.bytes > kMostReducedBytes) {
    return {Code::kParamInvalid, Text("count ", request.bytes, " must be a positive multiple of ",
                                      element_bytes, " bytes, at most ", kMostReducedBytes)};
  }
  Plan plan;
  if (Status planned = PlanReduce(request, call.runtime.PlanContextOf(*call.target.context), plan);
      !planned.ok())
    return planned;
  return SubmitPlan(call.target, std::move(plan));
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

// Compatibility: partly: ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL is refused with ACL_ERROR_RT_FEATURE_NOT_SUPPORT
aclError aclrtReduceAsync(void* dst, const void* src, uint64_t count, aclrtReduceKind kind, aclDataType type,
                          aclrtStream stream, void* reserve) {
  return Guard("aclrtReduceAsync", [&]() -> Status {
    if (Status present = RequireNonNull("dst", dst, "src", src); !present.ok()) return present;
    if (reserve != nullptr) return InvalidArgument("reserve is not NULL");
    if (kind < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || kind > ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL)
      return InvalidArgument(Text("kind is ", static_cast<int>(kind), ", it must be 10 to 13"));
    auto call = FindStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    const auto operation = OperationOf(kind);
    if (!operation)
      return CopyUnsupported(Text("kind ", static_cast<int>(kind), " (EQUAL) is not supported"));
    const auto element = ElementOf(type);
    if (!element) {
      return CopyUnsupported(Text("type ", static_cast<int>(type),
                                  " cannot be reduced: int8, int16, int32, fp16, fp32 and bf16 can"));
    }
    return Submit(*call, {dst, src, count, *operation, *element});
  });
}

int sampanReduceVector(void* dst, const void* src, std::uint64_t count, ReduceOperation operation,
                       ReduceElement element, void* stream) {
  return Guard("aclrtReduceAsync", [&]() -> Status {
    auto call = FindStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    return Submit(*call, {dst, src, count * ElementBytes(element), operation, element});
  });
}
