// aclrtMemcpy and its asynchronous forms.
#include <cstring>
#include <optional>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "base/platform_bridge.h"
#include "base/threads/thread_sanitizer.h"
#include "core/copy/copy_rules.h"
#include "core/copy/linear_plan.h"
#include "observe/hooks.h"

namespace sampan::acl {
namespace {

[[gnu::cold, gnu::noinline]] Status RefuseArguments(core::LinearRequest request) {
  if (Status present = RequireNonNull("dst", request.dst, "src", request.src); !present.ok()) return present;
  return InvalidArgument(Text("kind is ", Describe(request.kind), ", it must be 0 to 5"));
}

Status CheckArguments(const core::LinearRequest& request) {
  const bool known_kind =
      static_cast<unsigned>(request.kind) <= static_cast<unsigned>(core::CopyKind::kHostToBufferToDevice);
  if (request.dst == nullptr || request.src == nullptr || !known_kind) [[unlikely]]
    return RefuseArguments(request);
  return {};
}

[[gnu::cold, gnu::noinline]] Status RefuseLength(core::LinearRequest request) {
  return {Code::kParamInvalid, Text("count ", request.bytes, " is more than destMax ", request.dst_max,
                                    " of dst ", Hex(request.dst))};
}

Status CheckLength(const core::LinearRequest& request) {
  return request.bytes <= request.dst_max ? Status() : RefuseLength(request);
}

/// Tells observers of a kind that contradicts the memory.
[[gnu::cold, gnu::noinline]] void NoteKind(core::CopyKind kind, const core::Profile& profile,
                                           const core::Plan& plan) {
  const auto* const copy = std::get_if<CopyTask>(&plan.task);
  if (copy == nullptr || !profile.attached || kind == core::CopyKind::kDefault ||
      kind == core::CopyKind::kHostToBufferToDevice)
    return;
  const core::CopyKind real = core::KindOf(copy->direction);
  const bool within_devices =
      kind == core::CopyKind::kInnerDeviceToDevice || kind == core::CopyKind::kInterDeviceToDevice;
  if (kind == real || (within_devices && real == core::CopyKind::kDeviceToDevice)) return;
  observe::TellMistake({.kind = observe::Mistake::Kind::kWrongKind, .bytes = copy->segment.bytes});
}

/// What a blocking copy of a thread without a context may do.
enum class NoContext { kRefuse, kCopyWithinHost };

/// The calling thread copies between host memory, by the rules of every other copy. Returns nothing if memory
/// of a device, or of another host, takes part.
[[gnu::noinline]] std::optional<Status> CopyWithinHost(core::LinearRequest request, core::Runtime& runtime) {
  core::Plan plan;
  if (Status planned =
          PlanLinear(request, core::CopyForm::kBlocking, runtime.PlanContextOf(core::kNoDevice), plan);
      !planned.ok())
    return planned;
  const CopyTask* const copy = core::LinearCopyOf(plan.task);
  if (copy == nullptr || copy->direction != Direction::kHostToHost) return std::nullopt;
  const races::CalledProgram seen_as_its_own;
  std::memcpy(request.dst, request.src, request.bytes);  // the engines' addresses may be a device's
  return Status();
}

Status Copy(const core::LinearRequest& request, NoContext without) {
  if (request.bytes == 0) return {};
  if (Status checked = CheckArguments(request); !checked.ok()) return checked;
  if (Status checked = CheckLength(request); !checked.ok()) return checked;
  if (request.dst == request.src) return {};
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  if (caller->context == nullptr && without == NoContext::kCopyWithinHost) {
    if (auto copied = CopyWithinHost(request, caller->runtime)) return std::move(*copied);
  }
  if (Status with_context = RequireContext(*caller); !with_context.ok()) return with_context;
  if (Status working = caller->device().CheckNotAborting(); !working.ok()) return working;
  core::Plan plan;
  if (Status planned = PlanLinear(request, core::CopyForm::kBlocking,
                                  caller->runtime.PlanContextOf(*caller->context), plan);
      !planned.ok())
    return planned;
  if (observe::On()) [[unlikely]]
    NoteKind(request.kind, caller->runtime.profile(), plan);
  return RunPlan(caller->device(), std::move(plan));
}

[[gnu::always_inline]] inline Status CopyAsync(core::LinearRequest request, aclrtStream stream_handle) {
  if (request.bytes == 0) return {};
  if (Status checked = CheckArguments(request); !checked.ok()) return checked;
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto stream = FindStream(*caller, stream_handle);
  if (!stream.ok()) return stream.TakeStatus();
  if (Status checked = CheckLength(request); !checked.ok()) return checked;
  if (Status with_context = RequireContext(*caller); !with_context.ok()) return with_context;
  core::Plan plan;
  if (Status planned = PlanLinear(request, core::CopyForm::kAsynchronous,
                                  caller->runtime.PlanContextOf(*caller->context), plan);
      !planned.ok())
    return planned;
  if (observe::On()) [[unlikely]]
    NoteKind(request.kind, caller->runtime.profile(), plan);
  return SubmitPlan({caller->context, *stream}, std::move(plan));
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  return Guard("aclrtMemcpy", [&] {
    return Copy({dst, destMax, src, count, static_cast<core::CopyKind>(kind)}, NoContext::kRefuse);
  });
}

// Inlined up to the queue: with cold caches, each call and each jump costs several times as much.
[[gnu::flatten]] aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                           aclrtMemcpyKind kind, aclrtStream stream) {
  return Guard<ProtectsItself>("aclrtMemcpyAsync", [&] {
    return CopyAsync({dst, destMax, src, count, static_cast<core::CopyKind>(kind)}, stream);
  });
}

aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  return Guard("aclrtMemcpyAsyncWithCondition", [&] {
    return CopyAsync({dst, destMax, src, count, static_cast<core::CopyKind>(kind)}, stream);
  });
}

int sampanCopyAtOnce(void* dst, std::uint64_t dst_bytes, const void* src, std::uint64_t bytes) {
  return Guard("aclrtMemcpy", [&] {
    return Copy({dst, dst_bytes, src, bytes, core::CopyKind::kDefault}, NoContext::kCopyWithinHost);
  });
}
