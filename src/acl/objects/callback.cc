// Host functions and callbacks in stream order.
#include <cstdint>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "process/process.h"

#include <pthread.h>

namespace sampan::acl {
namespace {

Status CheckProcessTimeout(std::int32_t milliseconds) {
  if (milliseconds >= -1 && milliseconds != 0) return {};
  return InvalidArgument(Text("timeout ", milliseconds, " ms: it must be -1 (no limit) or positive"));
}

/// Programs call aclrtProcessReport in a loop, also before the thread is subscribed.
Status ExpectTimeouts(Status processed) {
  if (processed.code() == Code::kReportTimeout || processed.code() == Code::kThreadSubscribe)
    processed.error().expected = true;
  return processed;
}

/// The owner of the call's stream, for subscriptions that keep it alive.
std::shared_ptr<core::Stream> StreamOf(const StreamCall& call) {
  return call.stream().shared_from_this();
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Guard("aclrtSubscribeReport", [&]() -> Status {
    auto call = FindOwnStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    return call->runtime.report_threads().Subscribe(threadId, StreamOf(*call));
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Guard("aclrtUnSubscribeReport", [&]() -> Status {
    auto call = FindOwnStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    return call->runtime.report_threads().Unsubscribe(threadId, StreamOf(*call));
  });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return Guard("aclrtLaunchCallback", [&]() -> Status {
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
      return InvalidArgument(Text("blockType is ", static_cast<int>(blockType), ", it must be 0 or 1"));
    }
    if (fn == nullptr) return {Code::kParamInvalid, "fn is NULL"};
    auto call = FindOwnStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    return call->runtime.report_threads().Launch(call->stream(),
                                                 {fn, userData, blockType == ACL_CALLBACK_BLOCK});
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return Guard("aclrtProcessReport", [&]() -> Status {
    if (Status checked = CheckProcessTimeout(timeout); !checked.ok()) return checked;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    return ExpectTimeouts(
        AddTimeoutToMessage((*runtime)->report_threads().Process(static_cast<uint64_t>(::pthread_self()),
                                                                 *DeadlineFromTimeout(timeout)),
                            timeout));
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  return Guard("aclrtLaunchHostFunc", [&]() -> Status {
    if (fn == nullptr) return {Code::kParamInvalid, "fn is NULL"};
    auto call = FindOwnStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    if (call->runtime.report_threads().Subscribed(call->stream())) {
      return {Code::kStreamSubscribe,
              Text("stream ", call->stream().id(), " has a subscribed thread: use aclrtLaunchCallback")};
    }
    return call->stream().Enqueue(HostTask{call->runtime.host_threads().MakeWork(fn, args)});
  });
}
