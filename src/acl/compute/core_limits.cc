// Limits of cores, of the process and of streams: remembered and read back.
#include "core/objects/core_limits.h"

#include <cstdint>
#include <memory>
#include <optional>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"

namespace sampan::acl {
namespace {

static_assert(static_cast<int>(core::CoreKind::kCube) == ACL_RT_DEV_RES_CUBE_CORE);
static_assert(static_cast<int>(core::CoreKind::kVector) == ACL_RT_DEV_RES_VECTOR_CORE);

Result<core::CoreKind> KindOfCores(int type) {
  if (type == ACL_RT_DEV_RES_CUBE_CORE) return core::CoreKind::kCube;
  if (type == ACL_RT_DEV_RES_VECTOR_CORE) return core::CoreKind::kVector;
  return Error{Code::kParamInvalid, Text("type is ", type, ", it must be 0 (cube) or 1 (vector)")};
}

std::uint32_t CoresOfChip(const core::Runtime& runtime, core::CoreKind kind) {
  return kind == core::CoreKind::kCube ? runtime.profile().ai_cores : runtime.profile().vector_cores;
}

Status CheckCores(const core::Runtime& runtime, core::CoreKind kind, std::uint32_t value) {
  const std::uint32_t present = CoresOfChip(runtime, kind);
  if (value <= present) return {};
  return {Code::kParamInvalid, Text("value is ", value, ", ", runtime.profile().chip, " has ", present,
                                    kind == core::CoreKind::kCube ? " cube cores" : " vector cores")};
}

struct DeviceLimitCall {
  core::Runtime& runtime;
  core::Device& device;
};
Result<DeviceLimitCall> FindDeviceLimits(std::int32_t device_id) {
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  auto device = (*runtime)->FindDevice(device_id);
  if (!device.ok()) return device.TakeStatus();
  if (!(*device)->IsSet()) {
    return Error{Code::kDeviceSetupError,
                 Text("device ", device_id, " is not set: call aclrtSetDevice first")};
  }
  return DeviceLimitCall{**runtime, **device};
}

std::uint32_t DeviceCores(core::Runtime& runtime, const core::CoreLimits& limits, core::CoreKind kind) {
  return limits.Get(kind).value_or(CoresOfChip(runtime, kind));
}

/// A stream, of whichever context.
struct StreamLimitCall {
  core::Runtime& runtime;
  process::ThreadState& thread;
  std::shared_ptr<core::Stream> stream;
};
Result<StreamLimitCall> FindStreamLimits(aclrtStream handle) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  if (handle != nullptr) {
    auto stream = FindStream(*caller, handle);
    if (!stream.ok()) return stream.TakeStatus();
    return StreamLimitCall{caller->runtime, caller->thread, (*stream)->shared_from_this()};
  }
  if (Status with_context = RequireContext(*caller); !with_context.ok()) return with_context;
  return StreamLimitCall{caller->runtime, caller->thread, caller->context->default_stream()};
}

Result<std::uint32_t> StreamCores(core::Runtime& runtime, core::Stream& stream, core::CoreKind kind) {
  if (const auto own = stream.core_limits().Get(kind)) return *own;
  auto device = runtime.FindDevice(stream.label().device);
  if (!device.ok()) return device.TakeStatus();
  return DeviceCores(runtime, (*device)->core_limits(), kind);
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return Guard("aclrtGetDeviceResLimit", [&]() -> Status {
    if (Status present = RequireNonNull("value", value); !present.ok()) return present;
    auto kind = KindOfCores(type);
    if (!kind.ok()) return kind.TakeStatus();
    auto call = FindDeviceLimits(deviceId);
    if (!call.ok()) return call.TakeStatus();
    *value = DeviceCores(call->runtime, call->device.core_limits(), *kind);
    return {};
  });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return Guard("aclrtSetDeviceResLimit", [&]() -> Status {
    auto kind = KindOfCores(type);
    if (!kind.ok()) return kind.TakeStatus();
    auto call = FindDeviceLimits(deviceId);
    if (!call.ok()) return call.TakeStatus();
    if (Status fits = CheckCores(call->runtime, *kind, value); !fits.ok()) return fits;
    call->device.core_limits().Set(*kind, value);
    return {};
  });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return Guard("aclrtResetDeviceResLimit", [&]() -> Status {
    auto call = FindDeviceLimits(deviceId);
    if (!call.ok()) return call.TakeStatus();
    call->device.core_limits().Reset();
    return {};
  });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return Guard("aclrtGetStreamResLimit", [&]() -> Status {
    if (Status present = RequireNonNull("value", value); !present.ok()) return present;
    auto kind = KindOfCores(type);
    if (!kind.ok()) return kind.TakeStatus();
    auto call = FindStreamLimits(stream);
    if (!call.ok()) return call.TakeStatus();
    auto cores = StreamCores(call->runtime, *call->stream, *kind);
    if (!cores.ok()) return cores.TakeStatus();
    *value = *cores;
    return {};
  });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  return Guard("aclrtSetStreamResLimit", [&]() -> Status {
    auto kind = KindOfCores(type);
    if (!kind.ok()) return kind.TakeStatus();
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    if (Status fits = CheckCores(**runtime, *kind, value); !fits.ok()) return fits;
    auto call = FindStreamLimits(stream);
    if (!call.ok()) return call.TakeStatus();
    call->stream->core_limits().Set(*kind, value);
    return {};
  });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return Guard("aclrtResetStreamResLimit", [&]() -> Status {
    auto call = FindStreamLimits(stream);
    if (!call.ok()) return call.TakeStatus();
    call->stream->core_limits().Reset();
    return {};
  });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return Guard("aclrtUseStreamResInCurrentThread", [&]() -> Status {
    auto call = FindStreamLimits(stream);
    if (!call.ok()) return call.TakeStatus();
    call->thread.cores_of = call->stream;
    return {};
  });
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return Guard("aclrtUnuseStreamResInCurrentThread", [&]() -> Status {
    auto call = FindStreamLimits(stream);
    if (!call.ok()) return call.TakeStatus();
    if (call->thread.cores_of.lock() == call->stream) call->thread.cores_of.reset();
    return {};
  });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return Guard("aclrtGetResInCurrentThread", [&]() -> Status {
    if (Status present = RequireNonNull("value", value); !present.ok()) return present;
    auto kind = KindOfCores(type);
    if (!kind.ok()) return kind.TakeStatus();
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    std::optional<std::uint32_t> limit;
    if (const auto used = caller->thread.cores_of.lock()) limit = used->core_limits().Get(*kind);
    *value = limit ? *limit : DeviceCores(caller->runtime, caller->device().core_limits(), *kind);
    return {};
  });
}
