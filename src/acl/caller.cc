// What public functions need of the process and of the calling thread.
#include "acl/caller.h"

#include <utility>

#include "acl/init_state.h"
#include "base/text.h"
#include "core/dead_handle.h"

namespace sampan::acl {

Result<Caller> CallerMaybeWithoutContext() {
  Runtime* runtime = process::TheRuntimeIfMade();
  if (runtime == nullptr) {
    auto made = process::TheRuntime();
    if (!made.ok()) return made.TakeStatus();
    runtime = *made;
  }
  return Caller{*runtime, process::ThisThread().Current()};
}

Status RequireContext(Caller& caller) {
  if (caller.context != nullptr) return {};
  if (const auto default_device = DefaultDevice()) {
    auto context = caller.runtime.RetainPrimary(*default_device);
    if (!context.ok()) return context.TakeStatus();
    caller.context = context->get();
    process::ThreadState& thread = process::ThisThread();
    thread.explicit_context = nullptr;  // a dead one
    thread.primary_context = std::move(*context);
    return {};
  }
  return Error{Code::kContextNull,
               "the calling thread has no context: call aclrtSetDevice or aclrtSetCurrentContext first"};
}

Result<Caller> CallerWithContext() {
  auto caller = CallerMaybeWithoutContext();
  if (!caller.ok()) return caller;
  if (Status with_context = RequireContext(*caller); !with_context.ok()) return with_context;
  return caller;
}

Result<Stream*> FindStream(const Runtime& runtime, void* handle) {
  if (handle == nullptr) return nullptr;
  Stream* const stream = process::ThisThread().FindStream(runtime, handle);
  if (stream == nullptr) {
    return DeadHandle("stream", "stream", handle);
  }
  return stream;
}

Result<std::shared_ptr<Event>> FindEvent(Runtime& runtime, void* handle, std::string_view argument) {
  auto event = runtime.FindEvent(handle);
  if (event == nullptr) {
    return DeadHandle(argument, "event", handle);
  }
  return event;
}

namespace {

Result<StreamCall> StreamCallOf(Caller caller, void* handle) {
  auto stream = FindStream(caller.runtime, handle);
  if (!stream.ok()) return stream.TakeStatus();
  if (Status with_context = RequireContext(caller); !with_context.ok()) return with_context;
  return StreamCall{caller.runtime, {caller.context, *stream}};
}

}  // namespace

Result<StreamCall> FindStreamCall(void* handle) {
  auto caller = CallerMaybeWithoutContext();
  if (!caller.ok()) return caller.TakeStatus();
  return StreamCallOf(*caller, handle);
}

Result<StreamCall> FindOwnStreamCall(const Caller& caller, void* handle) {
  if (const auto usual = FindUsualStreamCall(handle)) return *usual;
  auto call = StreamCallOf(caller, handle);
  if (!call.ok()) return call;
  if (Status own = CheckStreamContext(call->target); !own.ok()) return own;
  return call;
}

Result<StreamCall> FindOwnStreamCall(void* handle) {
  if (const auto usual = FindUsualStreamCall(handle)) return *usual;
  auto caller = CallerMaybeWithoutContext();
  if (!caller.ok()) return caller.TakeStatus();
  return FindOwnStreamCall(*caller, handle);
}

Status AfterSynchronize() {
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  if ((*runtime)->has_pools()) (*runtime)->TrimPools(Runtime::Trim::kToThreshold);
  return {};
}

Result<Deadline> DeadlineFromTimeout(std::int32_t milliseconds) {
  if (milliseconds < -1 || milliseconds == 0) {
    // Negative ones are refused by the outermost layer, whose refusals are no last errors; 0 is not.
    return Error{Code::kParamInvalid,
                 Text("timeout ", milliseconds, " ms: it must be -1 (no limit) or positive"), Error::kNoItem,
                 milliseconds < 0};
  }
  return milliseconds == -1 ? kNever : Clock::now() + std::chrono::milliseconds(milliseconds);
}

Status NamingTimeout(Status waited, std::int32_t milliseconds) {
  const Code code = waited.code();
  if (code == Code::kStreamSyncTimeout || code == Code::kEventSyncTimeout || code == Code::kReportTimeout)
    waited.error().message += Text(" of ", milliseconds, " ms");
  return waited;
}

}  // namespace sampan::acl
