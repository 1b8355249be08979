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
#include "observe/observers.h"

namespace sampan::acl {

/// Records the failure for the thread: message, log line, and last error if the code can be one. Returns the
/// code.
[[gnu::noinline]] aclError Report(const char* function, const Error& error) noexcept;
[[gnu::noinline]] aclError ReportException(const char* function, Code code, const char* what) noexcept;

/// Tells observers that a call begins. The first call reads the settings, which say whether there are any.
/// `is_observed` becomes true if they are to be told of its end. A reference, so that it stays out of the
/// registers of calls that are not observed.
[[gnu::noinline]] void BeginObservedCall(const char* function, bool& is_observed) noexcept;
[[gnu::noinline]] void EndObservedCall(const char* function, aclError code) noexcept;

/// For bodies that have their own NoCancellation around every cancellation point.
struct ProtectsItself {
  ProtectsItself() noexcept {}  // NOLINT(modernize-use-equals-default): avoids a warning about unused ones
};

/// Runs the body of a public function. Failures and exceptions become codes. No public function is a
/// cancellation point: pthread_cancel takes effect at the first one after the call.
template <typename Protection = NoCancellation, typename Body>
aclError Guard(const char* function, Body body) noexcept {
  [[maybe_unused]] const Protection no_cancellation;
  bool is_observed = false;
  if (observe::state.load(std::memory_order_relaxed) != observe::State::kOff) [[unlikely]]
    BeginObservedCall(function, is_observed);
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
  if (is_observed) [[unlikely]]
    EndObservedCall(function, code);
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
