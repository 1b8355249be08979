// Words of device memory that streams write and wait for, and the device's caches.
#include <cstdint>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/sharing/shared_key.h"
#include "core/copy/memory_location.h"
#include "core/streams/value_word.h"
#include "observe/hooks.h"

namespace sampan::acl {
namespace {

/// Plans with the caller's device and queues.
template <typename MakePlan>
Status QueuePlan(aclrtStream stream, MakePlan make_plan) {
  auto call = FindOwnStreamCall(stream);
  if (!call.ok()) return call.TakeStatus();
  if (Status may = RequireSharing(call->runtime.profile()); !may.ok()) return may;
  auto device = call->target.context->device().Open();
  if (!device.ok()) return device.TakeStatus();
  core::Plan plan;
  if (Status planned = make_plan(call->runtime.PlanContextOf(*call->target.context), **device, plan);
      !planned.ok())
    return planned;
  return SubmitPlan(call->target, std::move(plan));
}

/// A device has one view of its memory, so there is nothing to flush or invalidate. Only checks the range.
Status CheckCached(void* address, std::size_t bytes) {
  if (Status present = RequireNonNull("devPtr", address); !present.ok()) return present;
  if (bytes == 0) return InvalidArgument("size is 0");
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  core::Location location;
  if (Status located = Locate(caller->runtime.memory(), {"devPtr", address, bytes}, location); !located.ok())
    return located;
  if (location.place.on_device()) return {};
  return {Code::kParamInvalid,
          Text("devPtr ", Hex(address), " must be device memory, it is ", Describe(location.place))};
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return Guard("aclrtValueWrite", [&]() -> Status {
    if (Status present = RequireNonNull("devAddr", devAddr); !present.ok()) return present;
    if (flag != 0) return {Code::kParamInvalid, Text("flag is ", flag, ", it must be 0")};
    const observe::SubjectScope subject(observe::TaskType::kValueWrite, 0);
    return QueuePlan(stream, [&](core::PlanContext context, BackendDevice&, core::Plan& plan) {
      return PlanValueWrite(devAddr, value, context, plan);
    });
  });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return Guard("aclrtValueWait", [&]() -> Status {
    if (Status present = RequireNonNull("devAddr", devAddr); !present.ok()) return present;
    if (flag > ACL_STREAM_WAIT_VALUE_NOR)
      return {Code::kParamInvalid, Text("flag is ", flag, ", it must be 0 to 3")};
    const observe::SubjectScope subject(observe::TaskType::kValueWait, 0);
    return QueuePlan(stream, [&](core::PlanContext context, BackendDevice& device, core::Plan& plan) {
      context.backend().WatchGates();
      return PlanValueWait({devAddr, value, static_cast<core::ValueCondition>(flag)}, context, device, plan);
    });
  });
}

// Compatibility: no-op: checks its range; a device has one view of its memory
aclError aclrtMemFlush(void* devPtr, size_t size) {
  return Guard("aclrtMemFlush", [&] { return CheckCached(devPtr, size); });
}

// Compatibility: no-op: checks its range; a device has one view of its memory
aclError aclrtMemInvalidate(void* devPtr, size_t size) {
  return Guard("aclrtMemInvalidate", [&] { return CheckCached(devPtr, size); });
}
