// The edge of the library: a public function returns a code and never throws.
#include "acl/guard.h"

#include <unistd.h>

#include <algorithm>

#include "base/log/log.h"
#include "base/platform_bridge.h"
#include "base/threads/thread_sanitizer.h"
#include "base/time/local_time.h"
#include "observe/hooks.h"
#include "process/process.h"
#include "process/thread_state.h"

namespace sampan::acl {
namespace {

/// The maximum length of a thread's messages, newest first.
constexpr std::size_t kMaxMessageBytes = 16384;

/// The title and code of CANN's messages.
struct Title {
  const char* text;
  const char* code;
};

Title TitleOf(const Error& error) {
  if (error.message.ends_with(" is NULL")) {
    return IsArgumentCheckCode(error.code) ? Title{"NULL argument", "EH0002"}
                                           : Title{"NULL pointer", "EE1004"};
  }
  switch (error.code) {
    case Code::kInvalidFile:
      return {"Invalid path", "EH0003"};
    case Code::kFeatureNotSupport:
      return {"Operation refused", "EE1016"};
    case Code::kNoDevice:
      return {"Invalid device list", "EE2002"};
    case Code::kStreamContext:
      return {"Inconsistent parameter", "EE1017"};
    default:
      break;
  }
  return IsArgumentCheckCode(error.code) ? Title{"Invalid argument", "EH0001"}
                                         : Title{"Invalid value", "EE1011"};
}

void Remember(const char* function, const Error& error) {
  const Title title = TitleOf(error);
  std::string& messages = process::ThisThread().recent_messages;
  std::string text =
      Text("[PID: ", ::getpid(), "] ", LocalTime::Now().Text(), " ", std::string_view(title.text), "(",
           std::string_view(title.code), "): ", std::string_view(function), ": ", error.message,
           "\n        TraceBack (most recent call last):\n        ", std::string_view(function), " returned ",
           static_cast<int>(error.code), "\n");
  text.append(messages, 0, std::min(messages.size(), kMaxMessageBytes));
  messages = std::move(text);
}

}  // namespace

void BeginObservedCall(const char* function, bool& is_observed) noexcept {
  const NoCancellation no_cancellation;
  process::StartObservers();
  if (!observe::On()) return;
  observe::BeginCall(function, nullptr);
  is_observed = true;
}

void EndObservedCall(const char* function, aclError code) noexcept {
  observe::EndCall(function, code);
}

aclError Report(const char* function, const Error& error) noexcept {
  const NoCancellation no_cancellation;
  try {
    if (!IsArgumentCheckCode(error.code) && !error.unrecorded) process::ThisThread().last_error = error.code;
    Remember(function, error);
    Log(error.expected ? LogLevel::kInfo : LogLevel::kError,
        IsArgumentCheckCode(error.code) ? "ASCENDCL" : "RUNTIME",
        Text(std::string_view(function), ": ", error.message, " (", static_cast<int>(error.code), ")"));
  } catch (const std::exception&) {
    // Out of memory: no message, but the code is still returned.
  }
  return static_cast<aclError>(error.code);
}

aclError ReportException(const char* function, Code code, const char* what) noexcept {
  try {
    return Report(function, Error{code, what});
  } catch (const std::exception&) {
    return static_cast<aclError>(code);
  }
}

}  // namespace sampan::acl

void sampanReportFailure(const char* function, int code, const std::string& text) noexcept {
  using namespace sampan;
  try {
    acl::Remember(function, Error{static_cast<Code>(code), text});
    Log(LogLevel::kError, "HCCL", Text(std::string_view(function), ": ", text, " (", code, ")"));
  } catch (const std::exception&) {
    // Out of memory: no message, but the code is still returned.
  }
}

bool sampanLogs(int level) noexcept {
  return sampan::LogEnabled(static_cast<sampan::LogLevel>(level), "HCCL");
}

namespace {

constinit std::atomic<std::uint32_t> hccl_watch_word{sampan::kWatchUnknown};

}  // namespace

SampanWatchWord sampanWatchWord() noexcept {
  return &hccl_watch_word;
}

bool sampanBeginCall(const char* function, const char* link, std::int32_t remote_rank) noexcept {
  using namespace sampan;
  if (observe::state.load(std::memory_order_relaxed) == observe::State::kUnasked) process::StartObservers();
  const bool is_observed = observe::On();
  const std::uint32_t wanted = (is_observed ? kWatchTrace : kWatchNone) |
                               (LogEnabled(LogLevel::kWarning, "HCCL") ? kWatchLog : kWatchNone);
  if (hccl_watch_word.load(std::memory_order_relaxed) != wanted)
    hccl_watch_word.store(wanted, std::memory_order_relaxed);
  if (!is_observed) return false;
  const observe::Peer peer{link, remote_rank};
  observe::BeginCall(function, &peer);
  return true;
}

void sampanEndCall(const char* function, int code) noexcept {
  sampan::observe::EndCall(function, code);
}

void sampanTraceLink(const char* link, std::int32_t remote_rank) noexcept {
  sampan::observe::NotePeer({link, remote_rank});
}

void sampanLogLine(int level, const std::string& text) noexcept {
  using namespace sampan;
  try {
    if (LogEnabled(static_cast<LogLevel>(level), "HCCL")) Log(static_cast<LogLevel>(level), "HCCL", text);
  } catch (const std::exception&) {
    // Out of memory: drops the line.
  }
}

bool sampanInherited() noexcept {
  return sampan::process::IsInherited();
}

bool sampanLooksForRaces() noexcept {
  return sampan::races::Watched();
}

bool sampanEnterRuntime() noexcept {
  return sampan::races::Watched() && sampan::races::Enter();
}

bool sampanLeaveRuntime() noexcept {
  return sampan::races::Leave();
}
