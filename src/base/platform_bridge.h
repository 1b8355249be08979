// What libacl_rt does for libhccl_plf beyond the public functions. Exported for that library only.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error/status.h"
#include "base/reduce/reduce_kernels.h"

namespace sampan {

/// The connection that a signal belongs to. Thread-safe. The threads that execute streams call it, so it must
/// not block and must not call the runtime. Queued tasks share its ownership.
class SignalLink {
 public:
  virtual ~SignalLink() = default;
  /// Fails if the connection is broken.
  virtual Status Check() const = 0;
  /// The signal in words: its ranks and its meaning.
  virtual std::string Describe() const = 0;
  /// A wait for the signal reached its limit; the text is the message.
  virtual void OnTimeout(const std::string& text) noexcept = 0;
};

/// The bits of the watch word: which calls of HCCL are observed. The first sampanBeginCall replaces
/// kWatchUnknown by the settings. A cleared bit stays cleared.
inline constexpr std::uint32_t kWatchNone = 0, kWatchTrace = 1, kWatchLog = 2;
inline constexpr std::uint32_t kWatchUnknown = kWatchTrace | kWatchLog;

}  // namespace sampan

using SampanWatchWord = const std::atomic<std::uint32_t>*;

#pragma GCC visibility push(default)
extern "C" {

/// aclrtRecordNotify and aclrtWaitAndResetNotify for a signal of a connection. If the
/// connection is broken, a record signals nothing, and both fail their stream.
int sampanRecordLinked(void* notify, void* stream, const std::shared_ptr<sampan::SignalLink>& link);
int sampanWaitLinked(void* notify, void* stream, std::uint32_t seconds,
                     const std::shared_ptr<sampan::SignalLink>& link);

/// aclrtMemcpy in the direction of the addresses. If both are host memory, the thread needs no context.
int sampanCopyAtOnce(void* dst, std::uint64_t dst_bytes, const void* src, std::uint64_t bytes);

/// aclrtReduceAsync for all types and operations of base/reduce. `count` elements, at most 4 GiB.
int sampanReduceVector(void* dst, const void* src, std::uint64_t count, sampan::ReduceOperation operation,
                       sampan::ReduceElement element, void* stream);

/// Reports a failure as the public functions do: the calling thread's last message, and a log line.
void sampanReportFailure(const char* function, int code, const std::string& text) noexcept;
/// Log lines (base/log/log.h) that are not the failure of a call: is the level written, and write one.
bool sampanLogs(int level) noexcept;
void sampanLogLine(int level, const std::string& text) noexcept;

/// The watch word, valid until the process exits. While it is kWatchNone, callers may skip the functions
/// below, and log lines that are not errors.
SampanWatchWord sampanWatchWord() noexcept;

/// Begins a call of HCCL in the trace. `function` and `link` (null: none) must stay valid; `remote_rank` is
/// -1 if there is none. If it returns true, the same thread must end the call, after all calls that it began
/// inside.
bool sampanBeginCall(const char* function, const char* link, std::int32_t remote_rank) noexcept;
void sampanEndCall(const char* function, int code) noexcept;

/// Sets the link and rank that the trace shows for the tasks that the calling thread submits from now on.
void sampanTraceLink(const char* link, std::int32_t remote_rank) noexcept;

/// base/threads/thread_sanitizer.h for both libraries: a thread that enters the runtime in one may leave it
/// in the other.
bool sampanLooksForRaces() noexcept;
bool sampanEnterRuntime() noexcept;
bool sampanLeaveRuntime() noexcept;
}
#pragma GCC visibility pop
