// What public functions need from the process and the calling thread.
#include "acl/caller.h"

#include <utility>

#include "acl/init_state.h"
#include "base/error/text.h"
#include "base/threads/threads.h"
#include "core/objects/dead_handle.h"

namespace sampan::acl {

Result<core::Runtime*> MakeRuntime() {
  const NoCancellation no_cancellation;
  return process::TheRuntime();
}

Result<core::Context*> SetDefaultContext(core::Runtime& runtime, process::ThreadState& thread) {
  const NoCancellation no_cancellation;
  if (const auto default_device = DefaultDevice()) {
    auto context = runtime.RetainPrimary(*default_device);
    if (!context.ok()) return context.TakeStatus();
    thread.explicit_context = nullptr;  // a dead one
    thread.primary_context = std::move(*context);
    return thread.primary_context.get();
  }
  return Error{Code::kContextNull,
               "the calling thread has no context: call aclrtSetDevice or aclrtSetCurrentContext first"};
}

Status DeadStream(void* handle) {
  return core::DeadHandle("stream", "stream", handle);
}

Status NoDefaultStream() {
  return {Code::kParamInvalid,
          "stream is NULL, and the calling thread has no context whose default stream it could mean"};
}

Result<std::shared_ptr<core::Event>> FindEvent(core::Runtime& runtime, void* handle,
                                               std::string_view argument) {
  auto event = runtime.FindEvent(handle);
  if (event == nullptr) {
    return core::DeadHandle(argument, "event", handle);
  }
  return event;
}

Status AfterSynchronize() {
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  if ((*runtime)->has_pools()) (*runtime)->TrimPools(core::Runtime::Trim::kToThreshold);
  return {};
}

Result<Deadline> DeadlineFromTimeout(std::int32_t milliseconds) {
  if (milliseconds < -1 || milliseconds == 0) {
    // The code of a negative timeout does not become the thread's last error, the code of 0 does.
    return Error{Code::kParamInvalid,
                 Text("timeout ", milliseconds, " ms: it must be -1 (no limit) or positive"), Error::kNoItem,
                 milliseconds < 0};
  }
  return milliseconds == -1 ? kNever : Clock::now() + std::chrono::milliseconds(milliseconds);
}

Status AddTimeoutToMessage(Status waited, std::int32_t milliseconds) {
  const Code code = waited.code();
  if (code == Code::kStreamSyncTimeout || code == Code::kEventSyncTimeout || code == Code::kReportTimeout) {
    constexpr std::string_view kLimit = "time limit";
    std::string& message = waited.error().message;
    const std::size_t at = message.find(kLimit);
    message.insert(at == std::string::npos ? message.size() : at + kLimit.size(),
                   Text(" of ", milliseconds, " ms"));
  }
  return waited;
}

}  // namespace sampan::acl
