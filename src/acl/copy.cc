// aclrtMemcpy and its asynchronous forms.
#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "core/copy_plan.h"
#include "core/copy_rules.h"
#include "core/express_copy.h"

namespace sampan::acl {
namespace {

Status CheckArguments(const LinearRequest& request) {
  if (request.dst == nullptr || request.src == nullptr)
    return RequireNonNull("dst", request.dst, "src", request.src);
  const int kind = static_cast<int>(request.kind);
  if (kind < 0 || kind > static_cast<int>(CopyKind::kHostToBufferToDevice)) {
    return InvalidArgument(Text("kind is ", Describe(request.kind), ", it must be 0 to 5"));
  }
  return {};
}

Status CheckLength(const LinearRequest& request) {
  if (request.bytes <= request.dst_max) return {};
  return {Code::kParamInvalid, Text("count ", request.bytes, " is more than destMax ", request.dst_max,
                                    " of dst ", Hex(request.dst))};
}

Status Copy(const LinearRequest& request) {
  if (request.bytes == 0) return {};
  if (Status checked = CheckArguments(request); !checked.ok()) return checked;
  if (Status checked = CheckLength(request); !checked.ok()) return checked;
  if (request.dst == request.src) return {};
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  return RunPlan(*caller->context,
                 PlanLinear(request, CopyForm::kBlocking, caller->runtime.PlanContextOf(*caller->context)));
}

/// Most copies are short, right in every respect, and find their stream idle. Whoever is not so lucky goes
/// through all the checks below, in their order.
bool TryExpress(const LinearRequest& request, aclrtStream stream_handle) {
  if (request.bytes == 0 || request.bytes > request.dst_max) return false;
  const auto call = FindUsualStreamCall(stream_handle);
  if (!call) return false;
  return TryExpressCopy(request, call->stream(), call->runtime.PlanContextOf(*call->target.context));
}

Status CopyAsync(const LinearRequest& request, aclrtStream stream_handle) {
  if (TryExpress(request, stream_handle)) return {};
  if (request.bytes == 0) return {};
  if (Status checked = CheckArguments(request); !checked.ok()) return checked;
  auto caller = CallerMaybeWithoutContext();
  if (!caller.ok()) return caller.TakeStatus();
  auto stream = FindStream(caller->runtime, stream_handle);
  if (!stream.ok()) return stream.TakeStatus();
  if (Status checked = CheckLength(request); !checked.ok()) return checked;
  if (Status with_context = RequireContext(*caller); !with_context.ok()) return with_context;
  auto plan = PlanLinear(request, CopyForm::kAsynchronous, caller->runtime.PlanContextOf(*caller->context));
  return SubmitPlan({caller->context, *stream}, std::move(plan));
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  return Guard("aclrtMemcpy", [&] { return Copy({dst, destMax, src, count, static_cast<CopyKind>(kind)}); });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  return Guard("aclrtMemcpyAsync", [&] {
    return CopyAsync({dst, destMax, src, count, static_cast<CopyKind>(kind)}, stream);
  });
}

aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  return Guard("aclrtMemcpyAsyncWithCondition", [&] {
    return CopyAsync({dst, destMax, src, count, static_cast<CopyKind>(kind)}, stream);
  });
}
