// How the library's functions end: a code, with a message that belongs to the thread.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "base/log.h"
#include "base/platform_bridge.h"
#include "base/text.h"
#include "base/threads.h"
#include "hccl/hccl_types.h"
#include "hccl/traced_call.h"

namespace sampan::plf {

/// Gives the code, and makes the failure the calling thread's: aclGetRecentErrMsg shows it.
inline HcclResult Fail(const char* function, HcclResult code, const std::string& text) noexcept {
  sampanReportFailure(function, static_cast<int>(code), text);
  return code;
}

inline void Warn(const std::string& text) noexcept {
  sampanLogLine(static_cast<int>(LogLevel::kWarning), text);
}

/// Whether lines for those who look for a fault are wanted; they cost more than the calls.
inline bool Traces() noexcept {
  return sampanLogs(static_cast<int>(LogLevel::kDebug));
}
inline void Trace(const std::string& text) noexcept {
  sampanLogLine(static_cast<int>(LogLevel::kDebug), text);
}

/// What a program has lost, without a call of its that could say so.
inline void Complain(const std::string& text) noexcept {
  sampanLogLine(static_cast<int>(LogLevel::kError), text);
}

/// Runs a body; exceptions become codes.
template <typename Body>
HcclResult Protect(const char* function, Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail(function, HCCL_E_MEMORY, "the host is out of memory");
  } catch (const std::exception& exception) {
    return Fail(function, HCCL_E_INTERNAL, exception.what());
  }
}

/// Runs the body of a public function: exceptions become codes, and traces show the call.
template <typename Body>
HcclResult Guard(const char* function, Body body) noexcept {
  const NoCancellation no_cancellation;
  TracedCall call(function);
  return call.Ends(Protect(function, body));
}

}  // namespace sampan::plf
