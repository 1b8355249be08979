// aclrtMemcpy2d and aclrtMemcpy2dAsync.
#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "core/copy/copy_plan.h"
#include "core/copy/copy_rules.h"

namespace sampan::acl {
namespace {

std::string Ends(const core::RowsRequest& request) {
  return Text("dst ", Hex(request.dst), ", src ", Hex(request.src));
}

Status CheckArguments(const core::RowsRequest& request) {
  if (Status present = RequireNonNull("dst", request.dst, "src", request.src); !present.ok()) return present;
  if (request.width > request.src_pitch) {
    return InvalidArgument(Text("width ", request.width, " is more than spitch ", request.src_pitch,
                                " of src ", Hex(request.src)));
  }
  if (request.width > request.dst_pitch) {
    return InvalidArgument(Text("width ", request.width, " is more than dpitch ", request.dst_pitch,
                                " of dst ", Hex(request.dst)));
  }
  if (request.kind < core::CopyKind::kHostToDevice || request.kind > core::CopyKind::kDefault) {
    return InvalidArgument(
        Text("kind is ", Describe(request.kind), ", a 2D copy takes 1 to 4: ", Ends(request)));
  }
  return {};
}

Status CheckRules(const core::RowsRequest& request, core::CopyForm form, const core::Profile& profile) {
  if (!profile.rows) return CopyUnsupported(Text(profile.chip, " has no 2D copies"));
  if (request.height > core::kMaxRows) {
    return {Code::kParamInvalid,
            Text("height ", request.height, " is more than ", core::kMaxRows, ": ", Ends(request))};
  }
  if (request.width > profile.max_row_bytes) {
    return {Code::kParamInvalid,
            Text("width ", request.width, " is more than ", profile.max_row_bytes, ": ", Ends(request))};
  }
  const bool between_devices = form == core::CopyForm::kAsynchronous && profile.rows_between_devices;
  if (request.kind == core::CopyKind::kDeviceToDevice && !between_devices) {
    return CopyUnsupported(
        Text("kind ", Describe(request.kind), ": 2D copies from device to device are not ", "supported by ",
             form == core::CopyForm::kBlocking ? "the blocking call" : profile.release, ": ", Ends(request)));
  }
  return {};
}

Status Copy(const core::RowsRequest& request) {
  if (request.width == 0 || request.height == 0) return {};
  if (Status checked = CheckArguments(request); !checked.ok()) return checked;
  auto calling_thread = ThisCaller();
  if (!calling_thread.ok()) return calling_thread.TakeStatus();
  if (Status checked = CheckRules(request, core::CopyForm::kBlocking, calling_thread->runtime.profile());
      !checked.ok())
    return checked;
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  core::Plan plan;
  if (Status planned =
          PlanRows(request, core::CopyForm::kBlocking, caller->runtime.PlanContextOf(*caller->context), plan);
      !planned.ok())
    return planned;
  return RunPlan(caller->device(), std::move(plan));
}

Status CopyAsync(const core::RowsRequest& request, aclrtStream stream_handle) {
  if (request.width == 0 || request.height == 0) return {};
  if (Status checked = CheckArguments(request); !checked.ok()) return checked;
  auto calling_thread = ThisCaller();
  if (!calling_thread.ok()) return calling_thread.TakeStatus();
  auto stream = FindStream(*calling_thread, stream_handle);
  if (!stream.ok()) return stream.TakeStatus();
  auto caller = CallerWithContext();
  if (!caller.ok() && stream_handle == nullptr) return NoDefaultStream();
  const core::Profile& profile = calling_thread->runtime.profile();
  if (Status checked = CheckRules(request, core::CopyForm::kAsynchronous, profile); !checked.ok())
    return checked;
  if (!caller.ok()) return caller.TakeStatus();
  core::Plan plan;
  if (Status planned = PlanRows(request, core::CopyForm::kAsynchronous,
                                caller->runtime.PlanContextOf(*caller->context), plan);
      !planned.ok())
    return planned;
  return SubmitPlan({caller->context, *stream}, std::move(plan));
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
  return Guard("aclrtMemcpy2d", [&] {
    return Copy({dst, dpitch, src, spitch, width, height, static_cast<core::CopyKind>(kind)});
  });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return Guard("aclrtMemcpy2dAsync", [&] {
    return CopyAsync({dst, dpitch, src, spitch, width, height, static_cast<core::CopyKind>(kind)}, stream);
  });
}
