// Events: recording, waiting, timing.
#include <chrono>
#include <cstdint>
#include <string_view>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/sharing/shared_key.h"
#include "process/process.h"

namespace sampan::acl {
namespace {

constexpr std::uint32_t kCombinable = core::EventFlags::kSync | core::EventFlags::kStreamProgress |
                                      core::EventFlags::kInnerSync | core::EventFlags::kTimeLine;

Status Create(aclrtEvent* out, core::EventGeneration generation, std::uint32_t flags) {
  if (Status present = RequireNonNull("event", out); !present.ok()) return present;
  const bool combined = flags != 0 && (flags & ~kCombinable) == 0;
  const bool alone = generation == core::EventGeneration::kLegacy &&
                     (flags == core::EventFlags::kDeviceUseOnly || flags == core::EventFlags::kExternal);
  const bool shared = generation == core::EventGeneration::kEx && flags == core::EventFlags::kIpc;
  if (!combined && !alone && !shared)
    return {Code::kParamInvalid, Text("flag is ", flags,
                                      ": it must be ACL_EVENT_SYNC, ACL_EVENT_CAPTURE_STREAM_PROGRESS, 4 and "
                                      "ACL_EVENT_TIME_LINE in any combination, or alone ",
                                      generation == core::EventGeneration::kEx
                                          ? "ACL_EVENT_IPC"
                                          : "ACL_EVENT_DEVICE_USE_ONLY or ACL_EVENT_EXTERNAL")};
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  if (shared) {
    if (Status may = RequireSignals(caller->runtime); !may.ok()) return may;
  }
  auto handle = shared ? caller->runtime.CreateSharedEvent(*caller->context)
                       : caller->runtime.CreateEvent(*caller->context, generation, flags);
  if (!handle.ok()) return handle.TakeStatus();
  *out = *handle;
  return {};
}

Result<std::shared_ptr<core::Event>> FindLiving(aclrtEvent handle, std::string_view argument = "event") {
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  return FindEvent(**runtime, handle, argument);
}

/// Which records and waits leave a stream's capture; no stream is ever being captured here.
enum class Scope { kDefault, kExternal };

Status OnlyWhileCapturing() {
  return {Code::kStreamNotCaptured,
          "the EXTERNAL flag is for streams that are being captured, and this one is not"};
}

Status Record(aclrtEvent handle, aclrtStream stream, Scope scope = Scope::kDefault) {
  if (Status present = RequireNonNull("event", handle); !present.ok()) return present;
  auto event = FindLiving(handle);
  if (!event.ok()) return event.TakeStatus();
  auto call = FindOwnStreamCall(stream);
  if (!call.ok()) return call.TakeStatus();
  if (scope == Scope::kExternal) return OnlyWhileCapturing();
  return (*event)->Record(call->stream());
}

/// Limits of waits in streams are in seconds; 0 is none.
Status WaitInStream(aclrtStream stream, aclrtEvent handle, std::uint32_t seconds,
                    Scope scope = Scope::kDefault) {
  auto event = FindLiving(handle);
  if (!event.ok()) return event.TakeStatus();
  auto call = FindOwnStreamCall(stream);
  if (!call.ok()) return call.TakeStatus();
  if (scope == Scope::kExternal) return OnlyWhileCapturing();
  if ((*event)->shared() != nullptr) call->runtime.backend().WatchGates();
  return (*event)->WaitIn(call->stream(), std::chrono::seconds(seconds));
}

/// Says what the stream that records the event stands at.
void ExplainLateEvent(core::Event& event, std::string& message) {
  const Point recording = event.recording_point();
  if (recording.timeline == nullptr) return;
  message += Text(": task ", recording.number, " of ", recording.timeline->Describe(), " records it");
  if (core::Runtime* const runtime = process::TheRuntimeIfMade()) {
    const std::string why = runtime->stream_roster().Explain(*recording.timeline);
    if (!why.empty()) message += Text("; ", why);
  }
}

Status SynchronizeEvent(aclrtEvent handle, Deadline deadline) {
  if (Status present = RequireNonNull("event", handle); !present.ok()) return present;
  auto event = FindLiving(handle);
  if (!event.ok()) return event.TakeStatus();
  if ((*event)->flags() == core::EventFlags::kExternal) {
    return {Code::kFeatureNotSupport, "the event is external: the host cannot wait for it"};
  }
  if (Status synced = (*event)->Synchronize(deadline); !synced.ok()) {
    if (synced.code() == Code::kEventSyncTimeout) ExplainLateEvent(**event, synced.error().message);
    return synced;
  }
  return AfterSynchronize();
}

Status CheckHasTime(const core::Event& event, std::string_view argument) {
  if (event.flags() != core::EventFlags::kExternal && event.flags() != core::EventFlags::kIpc) return {};
  return {Code::kFeatureNotSupport,
          Text(argument, " is external or shared with other processes: it has no time")};
}

static_assert(ACL_EVENT_RECORD_EXTERNAL == 1 && ACL_EVENT_WAIT_EXTERNAL == 1);

Result<Scope> ScopeFromFlag(std::uint32_t flag) {
  if (flag > 1) return InvalidArgument(Text("flag is ", flag, ", it must be 0 or 1"));
  return flag == 1 ? Scope::kExternal : Scope::kDefault;
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtCreateEvent(aclrtEvent* event) {
  return Guard("aclrtCreateEvent", [&] {
    return Create(
        event, core::EventGeneration::kLegacy,
        core::EventFlags::kStreamProgress | core::EventFlags::kInnerSync | core::EventFlags::kTimeLine);
  });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return Guard("aclrtCreateEventWithFlag",
               [&] { return Create(event, core::EventGeneration::kLegacy, flag); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return Guard("aclrtCreateEventExWithFlag", [&] { return Create(event, core::EventGeneration::kEx, flag); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return Guard("aclrtDestroyEvent", [&]() -> Status {
    if (Status present = RequireNonNull("event", event); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    return (*runtime)->DestroyEvent(event);
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return Guard("aclrtRecordEvent", [&] { return Record(event, stream); });
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
  return Guard("aclrtRecordEventWithFlag", [&]() -> Status {
    if (Status present = RequireNonNull("event", event); !present.ok()) return present;
    auto scope = ScopeFromFlag(flag);
    if (!scope.ok()) return scope.TakeStatus();
    return Record(event, stream, *scope);
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return Guard("aclrtResetEvent", [&]() -> Status {
    if (Status present = RequireNonNull("event", event); !present.ok()) return present;
    auto found = FindLiving(event);
    if (!found.ok()) return found.TakeStatus();
    if ((*found)->flags() == core::EventFlags::kDeviceUseOnly) {
      return {Code::kParamInvalid, "the event is for use on the device only"};
    }
    auto call = FindOwnStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    return (*found)->Reset(call->stream());
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return Guard("aclrtQueryEvent", [&]() -> Status {
    if (Status present = RequireNonNull("event", event, "status", status); !present.ok()) return present;
    auto found = FindLiving(event);
    if (!found.ok()) return found.TakeStatus();
    if ((*found)->generation() == core::EventGeneration::kEx) {
      return {Code::kFeatureNotSupport,
              "events made by aclrtCreateEventExWithFlag take aclrtQueryEventStatus"};
    }
    *status = (*found)->Recorded() ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return Guard("aclrtQueryEventStatus", [&]() -> Status {
    if (Status present = RequireNonNull("event", event, "status", status); !present.ok()) return present;
    auto found = FindLiving(event);
    if (!found.ok()) return found.TakeStatus();
    *status = (*found)->Recorded() ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return Guard("aclrtQueryEventWaitStatus", [&]() -> Status {
    if (Status present = RequireNonNull("event", event, "status", status); !present.ok()) return present;
    auto found = FindLiving(event);
    if (!found.ok()) return found.TakeStatus();
    if ((*found)->generation() == core::EventGeneration::kEx) {
      return {Code::kFeatureNotSupport,
              "events made by aclrtCreateEventExWithFlag keep no state of their waits"};
    }
    *status = (*found)->Waited() ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return Guard("aclrtSynchronizeEvent", [&] { return SynchronizeEvent(event, kNever); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return Guard("aclrtSynchronizeEventWithTimeout", [&]() -> Status {
    if (timeout < -1) return DeadlineFromTimeout(timeout).TakeStatus();
    if (Status present = RequireNonNull("event", event); !present.ok()) return present;
    auto deadline = DeadlineFromTimeout(timeout);
    if (!deadline.ok()) return deadline.TakeStatus();
    return AddTimeoutToMessage(SynchronizeEvent(event, *deadline), timeout);
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return Guard("aclrtEventElapsedTime", [&]() -> Status {
    if (Status present = RequireNonNull("ms", ms, "startEvent", startEvent, "endEvent", endEvent);
        !present.ok()) {
      return present;
    }
    auto start = FindLiving(startEvent, "startEvent");
    if (!start.ok()) return start.TakeStatus();
    auto end = FindLiving(endEvent, "endEvent");
    if (!end.ok()) return end.TakeStatus();
    if (Status checked = CheckHasTime(**start, "startEvent"); !checked.ok()) return checked;
    if (Status checked = CheckHasTime(**end, "endEvent"); !checked.ok()) return checked;
    if (Status checked = (*start)->CheckRecorded("startEvent"); !checked.ok()) return checked;
    if (Status checked = (*end)->CheckRecorded("endEvent"); !checked.ok()) return checked;
    auto start_time = (*start)->TimeNs("startEvent");
    if (!start_time.ok()) return start_time.TakeStatus();
    auto end_time = (*end)->TimeNs("endEvent");
    if (!end_time.ok()) return end_time.TakeStatus();
    *ms = static_cast<float>(static_cast<double>(*end_time - *start_time) / 1e6);
    return {};
  });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return Guard("aclrtEventGetTimestamp", [&]() -> Status {
    if (Status present = RequireNonNull("event", event, "timestamp", timestamp); !present.ok())
      return present;
    auto found = FindLiving(event);
    if (!found.ok()) return found.TakeStatus();
    if (Status checked = CheckHasTime(**found, "event"); !checked.ok()) return checked;
    if (Status checked = (*found)->CheckRecorded("event"); !checked.ok()) return checked;
    auto time = (*found)->TimeNs("event");
    if (!time.ok()) return time.TakeStatus();
    *timestamp = static_cast<uint64_t>(*time / 1000);
    return {};
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return Guard("aclrtStreamWaitEvent", [&]() -> Status {
    if (Status present = RequireNonNull("event", event); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    return WaitInStream(stream, event, (*runtime)->compute_settings().event_wait_limit_s.load());
  });
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag) {
  return Guard("aclrtStreamWaitEventWithFlag", [&]() -> Status {
    if (Status present = RequireNonNull("event", event); !present.ok()) return present;
    auto scope = ScopeFromFlag(flag);
    if (!scope.ok()) return scope.TakeStatus();
    if (*scope == Scope::kExternal && timeout != 0)
      return InvalidArgument(Text("timeout is ", timeout, ", with ACL_EVENT_WAIT_EXTERNAL it must be 0"));
    return WaitInStream(stream, event, timeout, *scope);
  });
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  return Guard("aclrtStreamWaitEventWithTimeout", [&]() -> Status {
    if (timeout < 0) return {Code::kParamInvalid, Text("timeout ", timeout, " s is negative")};
    if (event == nullptr) return {Code::kParamInvalid, "event is NULL"};
    return WaitInStream(stream, event, static_cast<std::uint32_t>(timeout));
  });
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
  return Guard("aclrtGetEventId", [&]() -> Status {
    if (Status present = RequireNonNull("event", event, "eventId", eventId); !present.ok()) return present;
    auto found = FindLiving(event);
    if (!found.ok()) return found.TakeStatus();
    auto id = (*found)->Id();
    if (!id.ok()) return id.TakeStatus();
    *eventId = *id;
    return {};
  });
}

aclError aclrtGetEventAvailNum(uint32_t* eventCount) {
  return Guard("aclrtGetEventAvailNum", [&]() -> Status {
    if (Status present = RequireNonNull("eventCount", eventCount); !present.ok()) return present;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    *eventCount = caller->device().event_ids()->available();
    return {};
  });
}
