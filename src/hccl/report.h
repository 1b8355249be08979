// Failures of the library's functions: a code, and a message for the calling thread.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "base/error/text.h"
#include "base/log/log.h"
#include "base/platform_bridge.h"
#include "base/threads/threads.h"
#include "hccl/hccl_types.h"
#include "hccl/traced_call.h"

namespace sampan::hccl {

/// Returns the code and keeps the message for the calling thread: aclGetRecentErrMsg shows it.
inline HcclResult Fail(const char* function, HcclResult code, const std::string& text) noexcept {
  sampanReportFailure(function, static_cast<int>(code), text);
  return code;
}

/// Log lines of this library. Warnings and debug lines are off by default: check before building a costly
/// text.
inline bool LogsWarnings() noexcept {
  return IsWatched() && sampanLogs(static_cast<int>(LogLevel::kWarning));
}
inline bool LogsDebug() noexcept {
  return IsWatched() && sampanLogs(static_cast<int>(LogLevel::kDebug));
}
inline void LogError(const std::string& text) noexcept {
  sampanLogLine(static_cast<int>(LogLevel::kError), text);
}
inline void LogWarning(const std::string& text) noexcept {
  sampanLogLine(static_cast<int>(LogLevel::kWarning), text);
}
inline void LogDebug(const std::string& text) noexcept {
  sampanLogLine(static_cast<int>(LogLevel::kDebug), text);
}

/// Reports the exception that is being handled, and returns its code.
inline HcclResult FailFromException(const char* function) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Fail(function, HCCL_E_MEMORY, "the host is out of memory");
  } catch (const std::exception& exception) {
    return Fail(function, HCCL_E_INTERNAL, exception.what());
  }
}

/// Runs the body of a public function: exceptions become codes, and traces show the call. A forked child is
/// refused before it takes a lock of its parent.
template <typename Body>
HcclResult Guard(const char* function, Body body) noexcept {
  if (sampanInherited()) [[unlikely]] {
    return Fail(
        function, HCCL_E_RUNTIME,
        "this process was forked from one that used the runtime already: fork before the first call, or "
        "start a new program in the child (exec)");
  }
  const NoCancellation no_cancellation;
  TracedCall call(function);
  try {
    return call.Ends(body());
  } catch (...) {
    return call.Ends(FailFromException(function));
  }
}

}  // namespace sampan::hccl
