// Devices: set, reset, synchronize, peers.
#include <cstdint>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/objects/state_callback.h"
#include "process/process.h"
#include "process/thread_state.h"

namespace sampan::acl {
namespace {

Status ResetDevice(std::int32_t device_id, bool all) {
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  if (Status may = (*runtime)->MayReleasePrimary(device_id); !may.ok()) return may;
  TellDeviceState(device_id, ACL_RT_DEVICE_STATE_RESET_PRE);
  if (Status released = (*runtime)->ReleasePrimary(device_id, all); !released.ok()) return released;
  TellDeviceState(device_id, ACL_RT_DEVICE_STATE_RESET_POST);
  auto& primary = process::ThisThread().primary_context;
  if (primary != nullptr && !primary->alive()) primary = nullptr;
  return {};
}

/// The calling thread's device and a peer of it.
struct PeerCall {
  core::Runtime& runtime;
  std::int32_t device, peer;
};
Result<PeerCall> FindPeer(std::int32_t peer_id) {
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  const std::int32_t own = caller->device().id();
  if (peer_id == own)
    return InvalidArgument(Text("peerDeviceId ", peer_id, " is the calling thread's own device"));
  auto peer = caller->runtime.FindDevice(peer_id);
  if (!peer.ok()) return peer.TakeStatus();
  if (!caller->runtime.profile().attached) {
    return Error{Code::kFeatureNotSupport, Text(caller->runtime.profile().chip, " has no peer access")};
  }
  return PeerCall{caller->runtime, own, peer_id};
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtSetDevice(int32_t deviceId) {
  return Guard("aclrtSetDevice", [&]() -> Status {
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    if (auto device = (*runtime)->FindDevice(deviceId); !device.ok()) return device.TakeStatus();
    TellDeviceState(deviceId, ACL_RT_DEVICE_STATE_SET_PRE);
    auto context = (*runtime)->RetainPrimary(deviceId);
    if (!context.ok()) return context.TakeStatus();
    process::ThisThread().primary_context = std::move(*context);
    process::ThisThread().explicit_context = nullptr;
    TellDeviceState(deviceId, ACL_RT_DEVICE_STATE_SET_POST);
    return {};
  });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return Guard("aclrtResetDevice", [&] { return ResetDevice(deviceId, false); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return Guard("aclrtResetDeviceForce", [&] { return ResetDevice(deviceId, true); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return Guard("aclrtGetDevice", [&]() -> Status {
    if (Status present = RequireNonNull("deviceId", deviceId); !present.ok()) return present;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    *deviceId = caller->device().id();
    return {};
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return Guard("aclrtGetDeviceCount", [&]() -> Status {
    if (Status present = RequireNonNull("count", count); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    if ((*runtime)->device_count() == 0) {
      return {Code::kNoDevice, core::Runtime::WhyNoDevice()};
    }
    *count = static_cast<std::uint32_t>((*runtime)->device_count());
    return {};
  });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return Guard("aclrtGetRunMode", [&]() -> Status {
    if (Status present = RequireNonNull("runMode", runMode); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    *runMode = (*runtime)->profile().attached ? ACL_HOST : ACL_DEVICE;
    return {};
  });
}

aclError aclrtSynchronizeDevice(void) {
  return Guard("aclrtSynchronizeDevice", [&]() -> Status {
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    if (Status synced = caller->context->Synchronize(kNever); !synced.ok()) return synced;
    return AfterSynchronize();
  });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return Guard("aclrtSynchronizeDeviceWithTimeout", [&]() -> Status {
    auto deadline = DeadlineFromTimeout(timeout);
    if (!deadline.ok()) return deadline.TakeStatus();
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    if (Status synced = caller->context->Synchronize(*deadline); !synced.ok())
      return AddTimeoutToMessage(std::move(synced), timeout);
    return AfterSynchronize();
  });
}

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return Guard("aclrtDeviceCanAccessPeer", [&]() -> Status {
    if (deviceId == peerDeviceId)
      return InvalidArgument(Text("deviceId and peerDeviceId are both ", deviceId));
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    for (const std::int32_t id : {deviceId, peerDeviceId}) {
      if (auto device = (*runtime)->FindDevice(id); !device.ok()) return device.TakeStatus();
    }
    if (canAccessPeer == nullptr) return {Code::kParamInvalid, "canAccessPeer is NULL"};
    if (!(*runtime)->profile().attached) {
      return {Code::kFeatureNotSupport, Text((*runtime)->profile().chip, " has no peer access")};
    }
    const bool can = (*runtime)->backend().Reaches((*runtime)->PhysicalDevice(deviceId),
                                                   (*runtime)->PhysicalDevice(peerDeviceId));
    *canAccessPeer = can ? 1 : 0;
    return {};
  });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return Guard("aclrtDeviceEnablePeerAccess", [&]() -> Status {
    if (flags != 0) return {Code::kFeatureUnsupported, Text("flags is ", flags, ", it must be 0")};
    auto call = FindPeer(peerDeviceId);
    if (!call.ok()) return call.TakeStatus();
    call->runtime.peers().Enable(call->device, call->peer);
    return {};
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return Guard("aclrtDeviceDisablePeerAccess", [&]() -> Status {
    auto call = FindPeer(peerDeviceId);
    if (!call.ok()) return call.TakeStatus();
    call->runtime.peers().Disable(call->device, call->peer);
    return {};
  });
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status) {
  return Guard("aclrtDevicePeerAccessStatus", [&]() -> Status {
    if (Status present = RequireNonNull("status", status); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    for (const std::int32_t id : {deviceId, peerDeviceId}) {
      if (auto device = (*runtime)->FindDevice(id); !device.ok()) return device.TakeStatus();
    }
    *status = (*runtime)->peers().Enabled(deviceId, peerDeviceId) ? 1 : 0;
    return {};
  });
}
