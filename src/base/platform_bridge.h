// What libacl_rt does for HCCL's libraries beyond the public functions. Exported for these libraries only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error/status.h"
#include "base/reduce/reduce_kernels.h"
#include "base/threads/sleep_word.h"

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
  /// A task before a record of the signal failed. The text is the failure.
  virtual void OnFailure(const std::string& text) noexcept = 0;
};

/// Keeps device memory from being reused while work on it is pending.
class HeldMemory {
 public:
  virtual ~HeldMemory() = default;
  /// Fails if the program has freed it.
  virtual Status CheckLive() const = 0;
  /// The place of an address of it in a memory file that another process can map. Without such a file, the
  /// descriptor is -1.
  struct FilePlace {
    int file = -1;
    std::uint64_t offset = 0;
  };
  virtual FilePlace PlaceInFile(const void* address) const = 0;
};

/// The work of one rank in a stream: it announces itself, waits for the other ranks, moves bytes, and waits
/// until the others have moved theirs. The threads that execute streams call it, so nothing may block. Queued
/// tasks share its ownership.
class StreamWork {
 public:
  /// The waits, in their order: for the work's turn, for the peers, and for their end.
  enum class Hold : std::uint8_t { kTurn, kPeers, kEnd };

  virtual ~StreamWork() = default;
  virtual bool IsOpen(Hold hold) const noexcept = 0;
  /// The stream passed the wait.
  virtual void Passed(Hold hold) noexcept = 0;
  /// Fails if the wait can never end.
  virtual Status Check(Hold hold) const = 0;
  /// The wait reached its limit. Returns the failure of the stream.
  virtual Status TimedOut(Hold hold, std::chrono::seconds limit) noexcept = 0;
  /// The wait in words, and who has to end it.
  virtual std::string Describe(Hold hold) const = 0;
  /// Woken when a wait may have ended.
  virtual SleepWord& word() const noexcept = 0;
  /// After the first wait, and after the second.
  virtual Status Announce() noexcept = 0;
  virtual Status Move() noexcept = 0;
  /// Instead of Announce: this rank cannot begin. The other ranks are told why.
  virtual void Refuse(const Status& reason) noexcept = 0;
  /// How often it waits for peers and moves. More than once if it moves what has come, while more is to come.
  virtual std::uint32_t rounds() const noexcept { return 1; }
  virtual std::uint64_t bytes() const noexcept = 0;
  /// What traces show of it. The texts stay.
  struct Shown {
    const char* name = "work";
    const char* algorithm = "";
    std::uint32_t rank = 0, ranks = 1;
    std::uint32_t slowest = 0;  ///< the rank that came last, as far as this one saw
  };
  virtual Shown shown() const noexcept { return {}; }
  /// When its steps were, while the stream is observed. Of the thread that executes the stream.
  struct Times {
    std::int64_t begin_ns = 0, met_ns = 0, moved_ns = 0;
  } times;
  /// How the thread that submits it may spin at a wait, instead of leaving it to the stream.
  struct Spin {
    std::chrono::nanoseconds max{0};
    bool shares_core = false;  ///< the ranks that it waits for may need its core
  };
  virtual Spin TakeSpin() noexcept { return {}; }
  /// Whether that thread may execute it. Not if it waits for the network.
  virtual bool may_go_ahead() const noexcept { return true; }

  /// The device memory of this rank that it accesses.
  struct Access {
    const HeldMemory* held;
    const std::byte* engine;
    std::uint64_t bytes;
    bool writes;
  };
  virtual std::vector<Access> Accesses() const = 0;
  /// Who has to end the wait, in words, and what they do.
  virtual std::string Missing(Hold hold) const = 0;
  /// As those of a gate.
  static constexpr std::uint32_t kNotOutside = UINT32_MAX;
  virtual std::uint32_t OutsideStanding(Hold hold) const noexcept = 0;
  virtual void TellStanding(std::uint32_t ways) noexcept = 0;
};

/// A range of device memory.
struct DeviceRange {
  std::byte* engine = nullptr;    ///< its address for this process's engines
  std::int32_t device = -1;       ///< the current device of the calling thread
  const void* address = nullptr;  ///< the program's
  std::uint64_t allocation = 0;   ///< its number; never used again
  std::shared_ptr<HeldMemory> held;
};

/// The bits of the watch word: which calls of HCCL are observed. The first sampanBeginCall replaces
/// kWatchUnknown by the settings. A cleared bit stays cleared.
inline constexpr std::uint32_t kWatchNone = 0, kWatchTrace = 1, kWatchLog = 2;
inline constexpr std::uint32_t kWatchUnknown = kWatchTrace | kWatchLog;

}  // namespace sampan

using SampanChipName = const char*;
using SampanWatchWord = const std::atomic<std::uint32_t>*;

#pragma GCC visibility push(default)
extern "C" {

/// aclrtRecordNotify and aclrtWaitAndResetNotify for a signal of a connection. If the
/// connection is broken, a record signals nothing, and both fail their stream. A record behind a failure that
/// the program has not seen yet breaks the connection: what the signal announces may be missing.
int sampanRecordLinked(void* notify, void* stream, const std::shared_ptr<sampan::SignalLink>& link);
int sampanWaitLinked(void* notify, void* stream, std::uint32_t seconds,
                     const std::shared_ptr<sampan::SignalLink>& link);

/// aclrtMemcpy in the direction of the addresses. If both are host memory, the thread needs no context.
int sampanCopyAtOnce(void* dst, std::uint64_t dst_bytes, const void* src, std::uint64_t bytes);

/// aclrtReduceAsync for all types and operations of base/reduce. `count` elements, at most 4 GiB.
int sampanReduceVector(void* dst, const void* src, std::uint64_t count, sampan::ReduceOperation operation,
                       sampan::ReduceElement element, void* stream);

/// Submits the work to the stream as tasks: three waits of at most `limit` each (0: none), with the
/// announcement and the movement between them.
int sampanSubmitWork(const char* function, void* stream, const std::shared_ptr<sampan::StreamWork>& work,
                     std::chrono::seconds limit);
/// Finds the device memory of an argument, which the program may write.
int sampanFindRange(const char* function, const char* argument, const void* address, std::uint64_t bytes,
                    sampan::DeviceRange& range);
/// Copies between addresses of engines on the calling thread; past the caches if asked. Returns false if the
/// host cannot reach device memory: then streams can take no StreamWork.
bool sampanCopyHere(void* dst, const void* src, std::uint64_t bytes, bool past_caches) noexcept;
/// For parts of collective operators: makes the context that of the calling thread until `scope` is dropped
/// on the same thread. Changes nothing if the context was destroyed.
void sampanEnterContext(void* context, std::shared_ptr<void>& scope);
/// The place of an instruction of a process in words; empty if it is not known. Slow.
void sampanDescribeCode(std::int64_t process, std::uintptr_t instruction, std::string& text);
/// Closes a key of aclrtIpcMemGetExportKey, of an export or an import, if it is still open.
void sampanCloseKey(const std::string& key) noexcept;
/// Whether the address is memory of another host, which counts as memory of the current device.
bool sampanIsOnOtherHost(const void* address) noexcept;
/// The chip of the profile.
SampanChipName sampanChipName() noexcept;

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

/// True in a child that was forked from a process that used the runtime. It has none of the threads that
/// others wait for, and its parent's locks may be held for ever.
bool sampanInherited() noexcept;

/// base/threads/thread_sanitizer.h for both libraries: a thread that enters the runtime in one may leave it
/// in the other.
bool sampanLooksForRaces() noexcept;
bool sampanEnterRuntime() noexcept;
bool sampanLeaveRuntime() noexcept;
}
#pragma GCC visibility pop
