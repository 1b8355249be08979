// What public functions need of the process and of the calling thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"
#include "core/copy_submit.h"
#include "core/runtime.h"
#include "process/process.h"
#include "process/thread_state.h"

namespace sampan::acl {

/// The runtime and the calling thread's context, which the thread's own state keeps alive.
struct Caller {
  Runtime& runtime;
  Context* context;

  Device& device() const { return context->device(); }
};

/// The context may be null.
Result<Caller> CallerMaybeWithoutContext();
/// Gives the caller a context, or fails (107002). A default device of the init file is set here.
Status RequireContext(Caller& caller);
/// Both.
Result<Caller> CallerWithContext();

/// The stream that a handle names, kept alive by the thread during the call; null stays null, which means the
/// default stream. A dead or forged handle: 107017.
Result<Stream*> FindStream(const Runtime& runtime, void* handle);
Result<std::shared_ptr<Event>> FindEvent(Runtime& runtime, void* handle, std::string_view argument = "event");

/// The stream that a call works on, with the caller's context; fails without one.
struct StreamCall {
  Runtime& runtime;
  CopyTarget target;

  Stream& stream() const { return target.TheStream(); }
};
/// The usual case, found without a word: the thread has a context, and the stream is alive and the context's.
inline std::optional<StreamCall> FindUsualStreamCall(void* handle) {
  Runtime* const runtime = process::TheRuntimeIfMade();
  process::ThreadState& thread = process::ThisThread();
  Context* const context = thread.Current();
  if (runtime == nullptr || context == nullptr) return std::nullopt;
  Stream* const stream =
      handle == nullptr ? context->default_stream().get() : thread.FindStream(*runtime, handle);
  if (stream == nullptr || !context->Owns(*stream)) return std::nullopt;
  return StreamCall{*runtime, {context, stream}};
}
Result<StreamCall> FindStreamCall(void* handle);
/// The same for calls that queue something: a stream of another context is refused (107003).
Result<StreamCall> FindOwnStreamCall(void* handle);
Result<StreamCall> FindOwnStreamCall(const Caller& caller, void* handle);

/// What follows a successful wait of the host: pools give back what they need not keep.
Status AfterSynchronize();

/// Timeouts in milliseconds: -1 waits for ever; less, and 0, are refused with 107000.
Result<Deadline> DeadlineFromTimeout(std::int32_t milliseconds);
/// The outcome of a wait until such a deadline; if that was over first, the message ends with how long it
/// was.
Status NamingTimeout(Status waited, std::int32_t milliseconds);

}  // namespace sampan::acl
