// Streams: making, ending, waiting, asking.
#include <algorithm>
#include <cstdint>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/objects/state_callback.h"

namespace sampan::acl {
namespace {

constexpr std::uint32_t kLowestPriority = 7;
constexpr std::uint32_t kKnownFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_PERSISTENT |
                                      ACL_STREAM_HUGE | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

Status Create(aclrtStream* out, std::uint32_t priority, std::uint32_t flags) {
  if (Status present = RequireNonNull("stream", out); !present.ok()) return present;
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  flags &= kKnownFlags;
  if ((flags & ACL_STREAM_HUGE) != 0) {
    return {Code::kFeatureNotSupport,
            Text(caller->runtime.profile().chip, " has no ACL_STREAM_HUGE streams")};
  }
  if ((flags & ACL_STREAM_DEVICE_USE_ONLY) != 0 && flags != ACL_STREAM_DEVICE_USE_ONLY) {
    return {Code::kParamInvalid,
            Text("flag ", flags, ": ACL_STREAM_DEVICE_USE_ONLY goes with no other flag")};
  }
  auto handle = caller->runtime.CreateStream(*caller->context, {std::min(priority, kLowestPriority), flags});
  if (!handle.ok()) return handle.TakeStatus();
  *out = *handle;
  TellStreamState(*out, ACL_RT_STREAM_STATE_CREATE_POST);
  return {};
}

Status Destroy(aclrtStream stream, bool force) {
  if (Status present = RequireNonNull("stream", stream); !present.ok()) return present;
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  if (caller->runtime.FindStream(stream) != nullptr) {
    if (Status with_context = RequireContext(*caller); !with_context.ok()) return with_context;
  }
  if (Status may = caller->runtime.MayDestroyStream(stream, caller->context); !may.ok()) return may;
  TellStreamState(stream, ACL_RT_STREAM_STATE_DESTROY_PRE);
  return caller->runtime.DestroyStream(stream, caller->context, force);
}

Status SynchronizeStream(aclrtStream handle, Deadline deadline) {
  auto call = FindStreamCall(handle);
  if (!call.ok()) return call.TakeStatus();
  if (call->stream().SkipsSynchronize()) return {};
  if (Status synced = call->stream().Synchronize(deadline); !synced.ok()) return synced;
  return call->runtime.has_pools() ? AfterSynchronize() : Status();
}

/// Writes what `read` gives for the stream.
template <typename Value, typename Read>
Status ReadStream(aclrtStream handle, std::string_view name, Value* out, Read read) {
  if (Status present = RequireNonNull(name, out); !present.ok()) return present;
  auto call = FindStreamCall(handle);
  if (!call.ok()) return call.TakeStatus();
  *out = static_cast<Value>(read(call->stream()));
  return {};
}

Status SetFailureMode(aclrtStream handle, std::uint64_t mode) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto stream = FindStream(*caller, handle);
  if (!stream.ok()) return stream.TakeStatus();
  if (handle == nullptr && !RequireContext(*caller).ok()) return NoDefaultStream();
  auto call = FindOwnStreamCall(handle);
  if (!call.ok()) return call.TakeStatus();
  const bool stop = (mode & 1) == ACL_STOP_ON_FAILURE;
  if (!stop && call->stream().stops_on_failure()) {
    return {Code::kFeatureNotSupport,
            Text("stream ", call->stream().id(), " cannot go back to ACL_CONTINUE_ON_FAILURE")};
  }
  if (stop) call->stream().StopOnFailure();
  return {};
}

Status UnknownAttribute(aclrtStreamAttr attribute) {
  return {Code::kParamInvalid, Text("stmAttrType is ", static_cast<int>(attribute), ", it must be 1 to 5")};
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtCreateStream(aclrtStream* stream) {
  return Guard("aclrtCreateStream", [&] { return Create(stream, 0, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return Guard("aclrtCreateStreamWithConfig", [&] { return Create(stream, priority, flag); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return Guard("aclrtDestroyStream", [&] { return Destroy(stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return Guard("aclrtDestroyStreamForce", [&] { return Destroy(stream, true); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return Guard("aclrtSynchronizeStream", [&] { return SynchronizeStream(stream, kNever); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return Guard("aclrtSynchronizeStreamWithTimeout", [&]() -> Status {
    auto deadline = DeadlineFromTimeout(timeout);
    if (!deadline.ok()) return deadline.TakeStatus();
    return AddTimeoutToMessage(SynchronizeStream(stream, *deadline), timeout);
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return Guard("aclrtStreamQuery", [&]() -> Status {
    if (Status present = RequireNonNull("status", status); !present.ok()) return present;
    auto call = FindStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    auto done = call->stream().Query();
    if (!done.ok()) return done.TakeStatus();
    *status = *done ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtStreamAbort(aclrtStream stream) {
  return Guard("aclrtStreamAbort", [&]() -> Status {
    auto call = FindStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    call->stream().Abort();
    return {};
  });
}

aclError aclrtStreamStop(aclrtStream stream) {
  return Guard("aclrtStreamStop", [&]() -> Status {
    if (stream == nullptr) return {Code::kParamInvalid, "stream is NULL"};
    auto call = FindStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    call->stream().Abort();
    return {};
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return Guard("aclrtStreamGetId", [&] {
    return ReadStream(stream, "streamId", streamId, [](core::Stream& each) { return each.id(); });
  });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  return Guard("aclrtStreamGetPriority", [&] {
    return ReadStream(stream, "priority", priority, [](core::Stream& each) { return each.priority(); });
  });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  return Guard("aclrtStreamGetFlags", [&] {
    return ReadStream(stream, "flags", flags, [](core::Stream& each) { return each.flags(); });
  });
}

aclError aclrtGetStreamAvailableNum(uint32_t* streamCount) {
  return Guard("aclrtGetStreamAvailableNum", [&]() -> Status {
    if (Status present = RequireNonNull("streamCount", streamCount); !present.ok()) return present;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    *streamCount = caller->device().stream_ids().available();
    return {};
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return Guard("aclrtSetStreamFailureMode", [&] { return SetFailureMode(stream, mode); });
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  return Guard("aclrtSetStreamAttribute", [&]() -> Status {
    if (Status present = RequireNonNull("value", value); !present.ok()) return present;
    auto call = FindStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    switch (stmAttrType) {
      case ACL_STREAM_ATTR_FAILURE_MODE:
        return SetFailureMode(stream, value->failureMode);
      case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        call->stream().overflow_check().store(value->overflowSwitch != 0);
        return {};
      case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        call->stream().tag().store(value->userCustomTag);
        return {};
      case ACL_STREAM_ATTR_CACHE_OP_INFO:
      case ACL_STREAM_ATTR_PRIORITY:
        return {Code::kFeatureNotSupport, Text("stream attribute ", static_cast<int>(stmAttrType),
                                               " cannot be set after the stream was made")};
    }
    return UnknownAttribute(stmAttrType);
  });
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  return Guard("aclrtGetStreamAttribute", [&]() -> Status {
    if (Status present = RequireNonNull("value", value); !present.ok()) return present;
    auto call = FindStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    switch (stmAttrType) {
      case ACL_STREAM_ATTR_FAILURE_MODE:
        value->failureMode =
            call->stream().stops_on_failure() ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
        return {};
      case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        value->overflowSwitch = call->stream().overflow_check().load() ? 1 : 0;
        return {};
      case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        value->userCustomTag = call->stream().tag().load();
        return {};
      case ACL_STREAM_ATTR_PRIORITY:
        value->streamPriority = call->stream().priority();
        return {};
      case ACL_STREAM_ATTR_CACHE_OP_INFO:
        return {Code::kFeatureNotSupport, "the runtime keeps no operator information of streams"};
    }
    return UnknownAttribute(stmAttrType);
  });
}
