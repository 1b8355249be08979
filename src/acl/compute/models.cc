// Stream capture and recorded models. No stream captures and no model exists; every call answers accordingly.
#include <cstdint>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/not_supported.h"
#include "core/objects/dead_handle.h"

namespace sampan::acl {
namespace {

static_assert(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL == 0 && ACL_MODEL_RI_CAPTURE_MODE_RELAXED == 2);

Status CheckCaptureMode(int mode) {
  if (mode >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return {};
  return {Code::kParamInvalid, Text("mode is ", mode, ", it must be 0 to 2")};
}

/// The stream of a call that needs no context: NULL and dead handles are refused.
Status CheckStreamHandle(aclrtStream handle) {
  if (Status present = RequireNonNull("stream", handle); !present.ok()) return present;
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  return FindStream(*caller, handle).TakeStatus();
}

/// The same, but one whose tasks the host orders. Needs no context either.
Status CheckHostDriven(aclrtStream handle) {
  if (Status found = CheckStreamHandle(handle); !found.ok()) return found;
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto stream = FindStream(*caller, handle);
  if (!stream.ok()) return stream.TakeStatus();
  const std::uint32_t flags = (*stream)->flags();
  if ((flags & (ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)) == 0) return {};
  return {Code::kInternalError, Text("stream ", (*stream)->id(), " has the flags ", flags,
                                     ": CPU_SCHEDULE and DEVICE_USE_ONLY cannot be captured")};
}

/// The stream of a call that belongs to a capture: of the current context.
Result<core::Stream*> FindCaptureStream(aclrtStream handle) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto stream = FindStream(*caller, handle);
  if (!stream.ok()) return stream;
  if (auto call = FindOwnStreamCall(*caller, handle); !call.ok()) return call.TakeStatus();
  return stream;
}

/// The same, but not a default stream.
Status CheckCaptureStream(aclrtStream handle) {
  auto stream = FindCaptureStream(handle);
  if (!stream.ok()) return stream.TakeStatus();
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  if (caller->context->default_stream().get() != *stream) return {};
  return {Code::kFeatureNotSupport,
          Text("stream ", (*stream)->id(), " is the default stream: it cannot be captured")};
}

/// For calls that need a capturing stream.
Status NotCapturing(aclrtStream handle) {
  if (Status found = CheckCaptureStream(handle); !found.ok()) return found;
  return {Code::kStreamNotCaptured, "the stream is not capturing: streams cannot be captured here"};
}

/// For calls that take a model, a condition or a recorded task: there is none that it could be.
template <typename... Rest>
aclError NoSuchRecord(const char* function, std::string_view name, const void* handle,
                      Rest... names_and_pointers) {
  return Guard(function, [&]() -> Status {
    if (Status present = RequireNonNull(name, handle, names_and_pointers...); !present.ok()) return present;
    return core::DeadHandle(name, "recorded object", const_cast<void*>(handle));
  });
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI) {
  return Guard("aclmdlRICaptureGetInfo", [&]() -> Status {
    if (Status present = RequireNonNull("stream", stream); !present.ok()) return present;
    if (status == nullptr && modelRI == nullptr) return InvalidArgument("status and modelRI are both NULL");
    if (Status found = CheckStreamHandle(stream); !found.ok()) return found;
    if (status != nullptr) *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    if (modelRI != nullptr) *modelRI = nullptr;
    return {};
  });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  return Guard("aclmdlRICaptureThreadExchangeMode", [&]() -> Status {
    if (Status present = RequireNonNull("mode", mode); !present.ok()) return present;
    if (Status known = CheckCaptureMode(*mode); !known.ok()) return known;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    *mode = static_cast<aclmdlRICaptureMode>(std::exchange(caller->thread.capture_mode, *mode));
    return {};
  });
}

// Compatibility: not supported: streams cannot be captured
aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return Guard("aclmdlRICaptureBegin", [&]() -> Status {
    if (Status found = CheckStreamHandle(stream); !found.ok()) return found;
    if (Status known = CheckCaptureMode(mode); !known.ok()) return known;
    if (Status driven = CheckHostDriven(stream); !driven.ok()) return driven;
    if (Status found = CheckCaptureStream(stream); !found.ok()) return found;
    return Unsupported("aclmdlRICaptureBegin");
  });
}

// Compatibility: not supported: no stream is capturing (107029)
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  return Guard("aclmdlRICaptureEnd", [&]() -> Status {
    if (Status driven = CheckHostDriven(stream); !driven.ok()) return driven;
    if (modelRI == nullptr) return {Code::kParamInvalid, "modelRI is NULL"};
    return NotCapturing(stream);
  });
}

// Compatibility: not supported: no stream is capturing (107029)
aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return Guard("aclmdlRICaptureTaskGrpBegin", [&]() -> Status {
    if (Status found = CheckStreamHandle(stream); !found.ok()) return found;
    return NotCapturing(stream);
  });
}

// Compatibility: not supported: no stream is capturing (107029)
aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  return Guard("aclmdlRICaptureTaskGrpEnd", [&]() -> Status {
    if (Status present = RequireNonNull("stream", stream, "handle", handle); !present.ok()) return present;
    return NotCapturing(stream);
  });
}

// Compatibility: not supported: no stream is capturing (107029)
aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams condTaskParams, aclrtStream stream, uint32_t flags) {
  return Guard("aclmdlRIAddCondTask", [&]() -> Status {
    if (Status present = RequireNonNull("the condition's handle", condTaskParams.handle, "modelRIArray",
                                        condTaskParams.modelRIArray);
        !present.ok()) {
      return present;
    }
    if (flags != 0) return {Code::kParamInvalid, Text("flags is ", flags, ", it must be 0")};
    if (Status found = CheckStreamHandle(stream); !found.ok()) return found;
    return NotCapturing(stream);
  });
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  return Guard("aclmdlRIExecute", [&]() -> Status {
    if (Status present = RequireNonNull("modelRI", modelRI); !present.ok()) return present;
    if (timeout != -1 && timeout <= 0) {
      return {Code::kParamInvalid, Text("timeout ", timeout, " ms: it must be -1 (no limit) or positive")};
    }
    return core::DeadHandle("modelRI", "recorded object", modelRI);
  });
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void* reserve) {
  return Guard("aclmdlRIBuildEnd", [&]() -> Status {
    if (Status present = RequireNonNull("modelRI", modelRI); !present.ok()) return present;
    if (reserve != nullptr) return InvalidArgument("reserve must be NULL");
    return core::DeadHandle("modelRI", "recorded object", modelRI);
  });
}

// Compatibility: not supported: models cannot be built
aclError aclmdlRIBuildBegin(aclmdlRI* modelRI, uint32_t) {
  return Guard("aclmdlRIBuildBegin", [&]() -> Status {
    if (Status present = RequireNonNull("modelRI", modelRI); !present.ok()) return present;
    return Unsupported("aclmdlRIBuildBegin");
  });
}

// Compatibility: not supported: there is no group of tasks to update
aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return Guard("aclmdlRICaptureTaskUpdateBegin", [&]() -> Status {
    if (Status present = RequireNonNull("stream", stream, "handle", handle); !present.ok()) return present;
    if (Status found = CheckStreamHandle(stream); !found.ok()) return found;
    return Unsupported("aclmdlRICaptureTaskUpdateBegin");
  });
}

// Compatibility: not supported: there is no group of tasks to update
aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return Guard("aclmdlRICaptureTaskUpdateEnd", [&]() -> Status {
    if (Status found = CheckStreamHandle(stream); !found.ok()) return found;
    return Unsupported("aclmdlRICaptureTaskUpdateEnd");
  });
}

// Compatibility: not supported: no stream belongs to a model
aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask*, uint32_t* numTasks) {
  return Guard("aclmdlRIGetTasksByStream", [&]() -> Status {
    if (Status present = RequireNonNull("stream", stream, "numTasks", numTasks); !present.ok())
      return present;
    if (Status found = CheckStreamHandle(stream); !found.ok()) return found;
    return Unsupported("aclmdlRIGetTasksByStream");
  });
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode) {
  return NoSuchRecord("aclmdlRICaptureToModelRIBegin", "modelRI", modelRI, "stream", stream);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream) {
  return NoSuchRecord("aclmdlRIExecuteAsync", "modelRI", modelRI);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIAbort(aclmdlRI modelRI) {
  return NoSuchRecord("aclmdlRIAbort", "modelRI", modelRI);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  return NoSuchRecord("aclmdlRIDestroy", "modelRI", modelRI);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIUpdate(aclmdlRI modelRI) {
  return NoSuchRecord("aclmdlRIUpdate", "modelRI", modelRI);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  return NoSuchRecord("aclmdlRIDebugPrint", "modelRI", modelRI);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t) {
  return NoSuchRecord("aclmdlRIDebugJsonPrint", "modelRI", modelRI, "path", path);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
  return NoSuchRecord("aclmdlRISetName", "modelRI", modelRI, "name", name);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t, char* name) {
  return NoSuchRecord("aclmdlRIGetName", "modelRI", modelRI, "name", name);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
  return NoSuchRecord("aclmdlRIGetId", "modelRI", modelRI, "modelRIId", modelRIId);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback, void*) {
  return NoSuchRecord("aclmdlRIDestroyRegisterCallback", "modelRI", modelRI);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback) {
  return NoSuchRecord("aclmdlRIDestroyUnregisterCallback", "modelRI", modelRI);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream*, uint32_t* numStreams) {
  return NoSuchRecord("aclmdlRIGetStreams", "modelRI", modelRI, "numStreams", numStreams);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t) {
  return NoSuchRecord("aclmdlRIBindStream", "modelRI", modelRI, "stream", stream);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
  return NoSuchRecord("aclmdlRIUnbindStream", "modelRI", modelRI, "stream", stream);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
  return NoSuchRecord("aclmdlRIEndTask", "modelRI", modelRI, "stream", stream);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t, aclmdlRICondHandleFlag,
                                  aclmdlRICondHandle* handle) {
  return NoSuchRecord("aclmdlRICondHandleCreate", "modelRI", modelRI, "handle", handle);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** devPtr) {
  return NoSuchRecord("aclmdlRICondHandleGetCondPtr", "handle", handle, "devPtr", devPtr);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType* type) {
  return NoSuchRecord("aclmdlRITaskGetType", "task", task, "type", type);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t* id) {
  return NoSuchRecord("aclmdlRITaskGetSeqId", "task", task, "id", id);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams* params) {
  return NoSuchRecord("aclmdlRITaskGetParams", "task", task, "params", params);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams* params) {
  return NoSuchRecord("aclmdlRITaskSetParams", "task", task, "params", params);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRITaskDisable(aclmdlRITask task) {
  return NoSuchRecord("aclmdlRITaskDisable", "task", task);
}

// Compatibility: not supported: no model can be recorded
aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId,
                                        aclrtLaunchKernelAttrValue* attrValue) {
  return NoSuchRecord("aclmdlRIKernelTaskGetAttribute", "task", task, "attrValue", attrValue);
}
