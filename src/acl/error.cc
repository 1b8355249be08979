// The calling thread's error messages and last error, and the program's log lines.
#include <array>
#include <cstdarg>
#include <cstdio>

#include "acl/acl_rt.h"
#include "acl/guard.h"
#include "base/log/log.h"
#include "process/thread_state.h"

using namespace sampan;
using namespace sampan::acl;

namespace sampan::acl {
namespace {

constexpr std::size_t kMaxLogBytes = 1024;

}  // namespace
}  // namespace sampan::acl

const char* aclGetRecentErrMsg(void) {
  process::ThreadState& thread = process::ThisThread();
  if (thread.recent_messages.empty()) return nullptr;
  static_cast<void>(Guard("aclGetRecentErrMsg", [&]() -> Status {
    thread.shown_messages = thread.recent_messages;
    return {};
  }));
  return thread.shown_messages.c_str();
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return Guard("aclrtPeekAtLastError",
               [&]() -> Status {
                 return level == ACL_RT_THREAD_LEVEL
                            ? Status()
                            : InvalidArgument(Text("level is ", static_cast<int>(level), ", it must be 0"));
               }) != ACL_SUCCESS
             ? ACL_ERROR_INVALID_PARAM
             : static_cast<aclError>(process::ThisThread().last_error);
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  const aclError error = aclrtPeekAtLastError(level);
  if (level == ACL_RT_THREAD_LEVEL) process::ThisThread().last_error = Code::kOk;
  return error;
}

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt,
               ...) {
  const auto level = static_cast<LogLevel>(logLevel);
  if (fmt == nullptr || level < LogLevel::kDebug || level > LogLevel::kError || !LogEnabled(level, "APP"))
    return;
  std::array<char, kMaxLogBytes> text{};
  std::va_list arguments;
  va_start(arguments, fmt);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"  // the program gives the format
  std::vsnprintf(text.data(), text.size(), fmt, arguments);
#pragma GCC diagnostic pop
  va_end(arguments);
  static_cast<void>(Guard("aclAppLog", [&]() -> Status {
    LogAt(level, "APP", {func != nullptr ? func : "?", file != nullptr ? file : "?", line}, text.data());
    return {};
  }));
}
