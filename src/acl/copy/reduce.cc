// Copies that reduce the source into the destination.
#include <cstdint>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "base/platform_bridge.h"
#include "core/copy/copy_plan.h"

namespace sampan::acl {
namespace {

constexpr std::uint64_t kMaxReducedBytes = std::uint64_t{4} << 30;

constexpr const ReduceTypeRow* TypeRowOf(aclDataType type) {
  return FindReduceRow(kReduceTypeRows, &ReduceTypeRow::acl, type);
}
constexpr const ReduceOperationRow* OperationRowOf(aclrtReduceKind kind) {
  return FindReduceRow(kReduceOperationRows, &ReduceOperationRow::acl, kind);
}
static_assert(TypeRowOf(ACL_INT8)->element == ReduceElement::kInt8 &&
              TypeRowOf(ACL_INT16)->element == ReduceElement::kInt16 &&
              TypeRowOf(ACL_INT32)->element == ReduceElement::kInt32 &&
              TypeRowOf(ACL_INT64)->element == ReduceElement::kInt64 &&
              TypeRowOf(ACL_UINT8)->element == ReduceElement::kUint8 &&
              TypeRowOf(ACL_UINT16)->element == ReduceElement::kUint16 &&
              TypeRowOf(ACL_UINT32)->element == ReduceElement::kUint32 &&
              TypeRowOf(ACL_UINT64)->element == ReduceElement::kUint64 &&
              TypeRowOf(ACL_FLOAT16)->element == ReduceElement::kHalf &&
              TypeRowOf(ACL_BF16)->element == ReduceElement::kBrainFloat &&
              TypeRowOf(ACL_FLOAT)->element == ReduceElement::kFloat &&
              TypeRowOf(ACL_DOUBLE)->element == ReduceElement::kDouble);
static_assert(OperationRowOf(ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM)->operation == ReduceOperation::kSum &&
              OperationRowOf(ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX)->operation == ReduceOperation::kMax &&
              OperationRowOf(ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN)->operation == ReduceOperation::kMin);

Status Submit(const StreamCall& call, const core::ReduceRequest& request) {
  const std::size_t element_bytes = ElementBytes(request.element);
  if (request.bytes == 0 || request.bytes % element_bytes != 0 || request.bytes > kMaxReducedBytes) {
    return {Code::kParamInvalid, Text("count ", request.bytes, " must be a positive multiple of ",
                                      element_bytes, " bytes, at most ", kMaxReducedBytes)};
  }
  core::Plan plan;
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
    const ReduceOperationRow* const operation = OperationRowOf(kind);
    if (operation == nullptr)
      return CopyUnsupported(Text("kind ", static_cast<int>(kind), " (EQUAL) is not supported"));
    const ReduceTypeRow* const row = TypeRowOf(type);
    if (row == nullptr || !row->by_copy_engine) {
      return CopyUnsupported(Text("type ", static_cast<int>(type),
                                  " cannot be reduced: ", NamesInWords(kReduceTypeRows, true), " can"));
    }
    return Submit(*call, {dst, src, count, operation->operation, row->element});
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
