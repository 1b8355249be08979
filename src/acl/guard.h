// The edge of the library: a public function returns a code and never throws.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "base/error/status.h"
#include "base/error/text.h"
#include "base/threads/threads.h"
#include "trace/trace.h"

namespace sampan::acl {

/// Records the failure for the thread: message, log line, and last error if the code can be one. Returns the
/// code.
[[gnu::noinline]] aclError Report(const char* function, const Error& error) noexcept;
[[gnu::noinline]] aclError ReportException(const char* function, Code code, const char* what) noexcept;

/// Begins the trace of a call. The first call reads the trace settings.
[[gnu::noinline]] void BeginTracedCall(trace::Call& call) noexcept;

/// For bodies that have their own NoCancellation around every cancellation point.
struct ProtectsItself {
  ProtectsItself() noexcept {}  // NOLINT(modernize-use-equals-default): avoids a warning about unused ones
};

/// Runs the body of a public function. Failures and exceptions become codes. No public function is a
/// cancellation point: pthread_cancel takes effect at the first one after the call.
template <typename Protection = NoCancellation, typename Body>
aclError Guard(const char* function, Body body) noexcept {
  [[maybe_unused]] const Protection no_cancellation;
  trace::Call call;
  if (trace::mode.load(std::memory_order_relaxed) != trace::Mode::kOff) [[unlikely]]
    BeginTracedCall(call);
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

/// The error of the outermost layer's argument checks: always 100000.
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

/// The error for the first pointer that is null, in this order.
template <typename... Rest>
Status RequireNonNull(std::string_view name, const void* pointer, Rest... rest) {
  Status first = RequireNonNull(name, pointer);
  return first.ok() ? RequireNonNull(rest...) : std::move(first);
}

}  // namespace sampan::acl
