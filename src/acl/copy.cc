// aclrtMemcpy and its asynchronous forms.
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "base/platform_bridge.h"
#include "core/copy_plan.h"
#include "core/copy_rules.h"
#include "core/express_copy.h"
#include "core/memory_location.h"

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
  if (Status working = caller->device().CheckNotAborting(); !working.ok()) return working;
  return RunPlan(*caller->context,
                 PlanLinear(request, CopyForm::kBlocking, caller->runtime.PlanContextOf(*caller->context)));
}

/// A copy between host memory, by the calling thread itself; any other needs its context.
Status CopyWithoutContext(const LinearRequest& request, const MemoryRegistry& registry) {
  const MemoryArgument dst{"dst", request.dst, request.bytes};
  const MemoryArgument src{"src", request.src, request.bytes};
  Location to, from;
  if (Status located = Locate(registry, dst, to); !located.ok()) return located;
  if (Status located = Locate(registry, src, from); !located.ok()) return located;
  if (to.place.on_device() || from.place.on_device()) return Copy(request);
  if (!to.use || to.use->facts.registered_read_only()) {
    if (Status probed = ProbeHostMemory(dst, HostAccess::kWrite); !probed.ok()) return probed;
  }
  if (!from.use) {
    if (Status probed = ProbeHostMemory(src, HostAccess::kRead); !probed.ok()) return probed;
  }
  std::memcpy(request.dst, request.src, request.bytes);
  return {};
}

/// Most copies are short, right in every respect, and find their stream idle. Whoever is not so lucky goes
/// through all the checks below, in their order.
bool TryExpress(const LinearRequest& request, aclrtStream stream_handle) {
  if (request.bytes == 0 || request.bytes > request.dst_max) return false;
  const auto call = FindUsualStreamCall(stream_handle);
  if (!call) return false;
  return TryExpressCopy(request, call->stream(), call->runtime.PlanContextOf(*call->target.context));
}

[[gnu::noinline]] Status SubmitCopy(const LinearRequest& request, aclrtStream stream_handle) {
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

/// The usual way in one piece, all others apart from it.
[[gnu::flatten]] Status CopyAsync(const LinearRequest& request, aclrtStream stream_handle) {
  return TryExpress(request, stream_handle) ? Status() : SubmitCopy(request, stream_handle);
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

int sampanCopyAtOnce(void* dst, std::uint64_t dst_bytes, const void* src, std::uint64_t bytes) {
  return Guard("aclrtMemcpy", [&]() -> Status {
    const LinearRequest request{dst, dst_bytes, src, bytes, CopyKind::kDefault};
    auto caller = CallerMaybeWithoutContext();
    if (!caller.ok()) return caller.TakeStatus();
    if (caller->context != nullptr || bytes == 0 || dst == src) return Copy(request);
    return CopyWithoutContext(request, caller->runtime.memory());
  });
}
