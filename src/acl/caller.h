// What public functions need of the process and of the calling thread.
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

/// The runtime and the calling thread's context, which the thread's own state keeps alive.
struct Caller {
  Runtime& runtime;
  process::ThreadState& thread;
  Context* context;

  Device& device() const { return context->device(); }
};

// What every call does is in line; what only the first call or a failing one does is not.

/// Makes the runtime, with the first call.
[[gnu::cold, gnu::noinline]] Result<Caller> FirstCaller();
/// The context may be null.
inline Result<Caller> ThisCaller() {
  Runtime* const runtime = process::TheRuntimeIfMade();
  if (runtime == nullptr) [[unlikely]]
    return FirstCaller();
  process::ThreadState& thread = process::ThisThread();
  return Caller{*runtime, thread, thread.Current()};
}

/// The context of a default device that the init file names; otherwise 107002.
[[gnu::cold, gnu::noinline]] Status SetDefaultContext(Caller& caller);
/// Gives the caller a context, or fails (107002).
inline Status RequireContext(Caller& caller) {
  return caller.context != nullptr ? Status() : SetDefaultContext(caller);
}
/// Both.
inline Result<Caller> CallerWithContext() {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller;
  if (Status with_context = RequireContext(*caller); !with_context.ok()) return with_context;
  return caller;
}

/// The failure of a dead or forged handle: 107017.
[[gnu::cold, gnu::noinline]] Status DeadStream(void* handle);
/// The stream of a handle. The thread keeps it alive during the call. Null means the default stream and stays
/// null.
inline Result<Stream*> FindStream(const Caller& caller, void* handle) {
  if (handle == nullptr) return nullptr;
  Stream* const stream = caller.thread.FindStream(caller.runtime, handle);
  if (stream == nullptr) [[unlikely]]
    return DeadStream(handle);
  return stream;
}
Result<std::shared_ptr<Event>> FindEvent(Runtime& runtime, void* handle, std::string_view argument = "event");

/// The stream that a call works on, with the caller's context; fails without one.
struct StreamCall {
  Runtime& runtime;
  CopyTarget target;

  Stream& stream() const { return target.TheStream(); }
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
/// The same for calls that queue something: a stream of another context is refused (107003).
inline Result<StreamCall> FindOwnStreamCall(const Caller& caller, void* handle) {
  auto call = FindStreamCall(caller, handle);
  if (!call.ok()) return call;
  if (Status own = CheckStreamContext(call->target); !own.ok()) return own;
  return call;
}
inline Result<StreamCall> FindOwnStreamCall(void* handle) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  return FindOwnStreamCall(*caller, handle);
}

/// What follows a successful wait of the host: pools give back what they need not keep.
Status AfterSynchronize();

/// Timeouts in milliseconds: -1 waits for ever; less, and 0, are refused with 107000.
Result<Deadline> DeadlineFromTimeout(std::int32_t milliseconds);
/// Passes on the outcome of a wait. After a timeout the message also says how long the timeout was.
Status AddTimeoutToMessage(Status waited, std::int32_t milliseconds);

}  // namespace sampan::acl
