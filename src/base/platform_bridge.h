// What libacl_rt does for libhccl_plf beyond the public functions. Exported under these names, for that
// library alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/reduce_kernels.h"
#include "base/status.h"

namespace sampan {

/// The connection that a signal belongs to. Thread-safe, called by the threads that execute streams: must not
/// block and must not call the runtime. Kept by the tasks queued on it.
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

/// The bits of the watch word: what may be wanted of HCCL's functions besides their work. The first call of
/// sampanBeginCall replaces kWatchUnknown by what the settings ask for. A bit that was cleared stays cleared.
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

/// aclrtReduceAsync for every type and operation that there are kernels for; `count` elements, at most 4 GiB.
int sampanReduceVector(void* dst, const void* src, std::uint64_t count, sampan::ReduceOperation operation,
                       sampan::ReduceElement element, void* stream);

/// Makes a failure the calling thread's: message and log line, as the public functions do with theirs.
void sampanReportFailure(const char* function, int code, const std::string& text) noexcept;
/// Log lines of a level (base/log.h) that are no failure of a call: whether one would be written, and one.
bool sampanLogs(int level) noexcept;
void sampanLogLine(int level, const std::string& text) noexcept;

/// The watch word, valid for the life of the process. While it is kWatchNone, the functions below and those
/// of the log have nothing to do, except for errors.
SampanWatchWord sampanWatchWord() noexcept;

/// Begins a call of HCCL in the trace, with the link (null: none) and the other rank (-1: none). Both texts
/// stay. Returns true if there is a trace. The same thread then ends the call, after all that it began.
bool sampanBeginCall(const char* function, const char* link, std::int32_t remote_rank) noexcept;
void sampanEndCall(const char* function, int code) noexcept;

/// What the trace says in the same way about the tasks that the calling thread submits from now on.
void sampanTraceLink(const char* link, std::int32_t remote_rank) noexcept;
}
#pragma GCC visibility pop
