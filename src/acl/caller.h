// What public functions need from the process and the calling thread.
#pragma once

#include <memory>
#include <string_view>

#include "base/error/status.h"
#include "base/time/clock.h"
#include "core/copy/copy_submit.h"
#include "core/objects/runtime.h"
#include "process/process.h"
#include "process/thread_state.h"

namespace sampan::acl {

/// The runtime and the calling thread's context. The thread's state keeps the context alive.
struct Caller {
  core::Runtime& runtime;
  process::ThreadState& thread;
  core::Context* context;

  core::Device& device() const { return context->device(); }
};

// Only what every call does is inline. The first call and failures are not.

// Functions that are not in line take plain values: what is passed by reference would live in memory.

/// Makes the runtime.
[[gnu::cold, gnu::noinline]] Result<core::Runtime*> MakeRuntime();
/// The context may be null.
inline Result<Caller> ThisCaller() {
  core::Runtime* runtime = process::TheRuntimeIfMade();
  if (runtime == nullptr) [[unlikely]] {
    auto made = MakeRuntime();
    if (!made.ok()) return made.TakeStatus();
    runtime = *made;
  }
  process::ThreadState& thread = process::ThisThread();
  return Caller{*runtime, thread, thread.Current()};
}

/// The context of a default device that the init file names, from now on the thread's; otherwise 107002.
[[gnu::cold, gnu::noinline]] Result<core::Context*> SetDefaultContext(core::Runtime& runtime,
                                                                      process::ThreadState& thread);
/// Gives the caller a context, or fails (107002).
inline Status RequireContext(Caller& caller) {
  if (caller.context == nullptr) [[unlikely]] {
    auto context = SetDefaultContext(caller.runtime, caller.thread);
    if (!context.ok()) return context.TakeStatus();
    caller.context = *context;
  }
  return {};
}
/// ThisCaller, then RequireContext.
inline Result<Caller> CallerWithContext() {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller;
  if (Status with_context = RequireContext(*caller); !with_context.ok()) return with_context;
  return caller;
}

/// The error for a destroyed or invalid handle: 107017.
[[gnu::cold, gnu::noinline]] Status DeadStream(void* handle);
/// The error for a null stream of a thread without a context: 107000.
[[gnu::cold, gnu::noinline]] Status NoDefaultStream();
/// The stream of a handle. The thread keeps it alive during the call. Null means the default stream and stays
/// null.
inline Result<core::Stream*> FindStream(const Caller& caller, void* handle) {
  if (handle == nullptr) return nullptr;
  core::Stream* const stream = caller.thread.FindStream(caller.runtime, handle);
  if (stream == nullptr) [[unlikely]]
    return DeadStream(handle);
  return stream;
}
Result<std::shared_ptr<core::Event>> FindEvent(core::Runtime& runtime, void* handle,
                                               std::string_view argument = "event");

/// The stream of a call and the caller's context. Fails without a context.
struct StreamCall {
  core::Runtime& runtime;
  core::CopyTarget target;

  core::Stream& stream() const { return target.TheStream(); }
};
inline Result<StreamCall> FindStreamCall(Caller caller, void* handle) {
  auto stream = FindStream(caller, handle);
  if (!stream.ok()) return stream.TakeStatus();
  if (Status with_context = RequireContext(caller); !with_context.ok()) return with_context;
  return StreamCall{caller.runtime, {caller.context, *stream}};
}
inline Result<StreamCall> FindStreamCall(void* handle) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  return FindStreamCall(*caller, handle);
}
/// The same for calls that submit tasks: refuses a stream of another context (107003).
inline Result<StreamCall> FindOwnStreamCall(const Caller& caller, void* handle) {
  auto call = FindStreamCall(caller, handle);
  if (!call.ok()) return call;
  if (Status own = call->target.context->CheckOwns(call->stream()); !own.ok()) return own;
  return call;
}
inline Result<StreamCall> FindOwnStreamCall(void* handle) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  return FindOwnStreamCall(*caller, handle);
}

/// Call it after a successful wait of the host: pools free memory above their thresholds.
Status AfterSynchronize();

/// The deadline of a timeout in milliseconds. -1 means no limit. Refuses 0 and lower values (107000).
Result<Deadline> DeadlineFromTimeout(std::int32_t milliseconds);
/// Returns the result of a wait. Adds the length of the timeout to the message of a timeout.
Status AddTimeoutToMessage(Status waited, std::int32_t milliseconds);

}  // namespace sampan::acl
