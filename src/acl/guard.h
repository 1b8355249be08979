// The edge of the library: nothing but a code leaves a public function.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "base/text.h"
#include "base/threads.h"
#include "trace/trace.h"

namespace sampan::acl {

/// Makes the failure the thread's: message, log line, and last error where the code counts as one. Gives the
/// code.
[[gnu::noinline]] aclError Report(const char* function, const Error& error) noexcept;
[[gnu::noinline]] aclError ReportException(const char* function, Code code, const char* what) noexcept;

/// Begins the trace of a call. The first call reads the trace settings.
[[gnu::noinline]] void BeginTracedCall(trace::Call& call, const char* function) noexcept;

/// For bodies that never come to a cancellation point outside of a NoCancellation of their own.
struct ProtectsItself {
  ProtectsItself() noexcept {}  // NOLINT(modernize-use-equals-default): a variable of it is no unused one
};

/// Runs the body of a public function; failures and exceptions become codes. No public function is a
/// cancellation point: pthread_cancel takes effect at the next one after the call.
template <typename Protection = NoCancellation, typename Body>
aclError Guard(const char* function, Body body) noexcept {
  [[maybe_unused]] const Protection no_cancellation;
  trace::Call call;
  if (trace::mode.load(std::memory_order_relaxed) != trace::Mode::kOff) [[unlikely]]
    BeginTracedCall(call, function);
  aclError code = ACL_SUCCESS;
  try {
    const Status status = body();
    if (!status.ok()) code = Report(function, status.error());
  } catch (const std::bad_alloc&) {
    code = ReportException(function, Code::kBadAlloc, "the host is out of memory");
  } catch (const ThreadStartError& refused) {
    code = ReportException(function, Code::kResourceAllocFail, refused.what());
  } catch (const std::exception& exception) {
    code = ReportException(function, Code::kInternalAcl, exception.what());
  }
  if (call.begin_ns != 0) [[unlikely]]
    trace::EndCall(call, function, code);
  return code;
}

/// The argument checks of the outermost layer, by which nothing but 100000 is answered.
[[gnu::cold, gnu::noinline]] inline Status InvalidArgument(std::string message) {
  return {Code::kInvalidParam, std::move(message)};
}

/// A copy call that the chip, the release or the direction does not have. It is not logged: programs probe
/// for it and fall back.
[[gnu::cold, gnu::noinline]] inline Status CopyUnsupported(std::string message) {
  return Error{Code::kFeatureNotSupport, std::move(message), Error::kNoItem, true};
}

inline Status RequireNonNull(std::string_view name, const void* pointer) {
  return pointer != nullptr ? Status() : InvalidArgument(Text(name, " is NULL"));
}

/// The first of the named pointers that is null, in order.
template <typename... Rest>
Status RequireNonNull(std::string_view name, const void* pointer, Rest... rest) {
  Status first = RequireNonNull(name, pointer);
  return first.ok() ? RequireNonNull(rest...) : std::move(first);
}

}  // namespace sampan::acl
