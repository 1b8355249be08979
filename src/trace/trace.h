// The hooks through which the runtime reports to the trace. With no trace, each costs one load.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "trace/record.h"
#include "trace/thread_buffer.h"
#include "trace/trace_clock.h"

namespace sampan::trace {

/// kUnasked: the settings have not been read yet.
enum class Mode : std::uint8_t { kOff, kUnasked, kOn };
inline constinit std::atomic<Mode> mode{Mode::kUnasked};

inline bool On() {
  return mode.load(std::memory_order_relaxed) == Mode::kOn;
}

/// A running public call. It is on the call's stack.
struct Call {
  std::int64_t begin_ns = 0;  ///< 0: not traced
  // What the call did so far. Set when it begins.
  Call* outer;
  std::int64_t ready_ns;  ///< when it could submit: its begin, or the end of a wait for a free slot
  std::uint64_t connection;
  summary::Awaited awaited;
  std::int32_t device;
  std::uint32_t object;
  std::uint64_t task;
  bool did_short_copy;  ///< it did only the thread's short_copy
};

/// A word in device memory that a task writes or waits for.
struct Word {
  MemoryEnd place{};
  WordShape shape{};
};

/// A call of HCCL. Its library does not know the type Call.
struct PlatformCall {
  Call call;
  Peer peer;
};

/// The object of a task, if the task itself does not name it.
struct Subject {
  summary::TaskType type = summary::TaskType::kOther;
  std::uint32_t object = 0;
};

/// Identifies a task that engines share.
struct TaskKey {
  QueueLabel queue;
  std::uint64_t task = 0;
  summary::TaskType type = summary::TaskType::kOther;
};

/// The trace's state of a thread. Created at its first record, destroyed with the thread.
struct ThreadState {
  explicit ThreadState(std::shared_ptr<ThreadBuffer> own) : buffer(std::move(own)) {}

  const std::shared_ptr<ThreadBuffer> buffer;
  Call* call = nullptr;
  std::deque<PlatformCall> platform_calls;                 // running calls, the innermost last
  std::uint64_t next_connection = 0, last_connection = 0;  // from a block of the thread
  // About the task that is being submitted.
  const Subject* subject = nullptr;
  Word word;
  Peer peer;
  // About the task that is being executed.
  TaskKey executing;
  bool shared = false;
  std::int32_t failure = 0;
  std::uint64_t bytes = 0;
  bool knows_ends = false;
  std::array<MemoryEnd, 2> ends{};  // destination and source
  summary::Path path = summary::Path::kNone;
  const char* reason = nullptr;
  ShortCopyRecord short_copy;  // of the call, if it did a short copy
  // Of a task that was executed by its submitter.
  std::int64_t at_once_begin_ns = 0, at_once_end_ns = 0;

  std::uint64_t TakeConnection();
};

/// The calling thread's state. Only while the trace is on.
ThreadState& ThisThread();
/// Creates the state. Out of memory: turns the trace off and returns false.
bool HasThreadState() noexcept;
/// Sets the role of the calling thread, before its first record.
void SetRole(ThreadRole role) noexcept;

// ---- calls ----

void BeginCall(Call& call) noexcept;
void EndCall(Call& call, const char* name, std::int32_t code) noexcept;
/// The same for a call of HCCL. Returns false if out of memory; the call must then not be ended.
bool BeginPlatformCall(const Peer& peer) noexcept;
void EndPlatformCall(const char* name, std::int32_t code) noexcept;
/// Records what the call waits for.
void NoteAwaited(summary::Awaited awaited, std::int32_t device, std::uint32_t object, std::uint64_t task);

/// Records a wait of the host inside a call, from construction to destruction. Does nothing without a trace.
class HostWait {
 public:
  HostWait(summary::WaitReason reason, const QueueLabel& queue)
      : reason_(reason), queue_(queue), begin_ns_(On() ? NowNs() : 0) {}
  ~HostWait() {
    if (begin_ns_ != 0) End();
  }
  HostWait(const HostWait&) = delete;
  HostWait& operator=(const HostWait&) = delete;

 private:
  void End() noexcept;

  const summary::WaitReason reason_;
  const QueueLabel& queue_;
  const std::int64_t begin_ns_;
};

// ---- submission ----

/// Names the subject of every task that this thread submits while the scope exists.
class SubjectScope {
 public:
  SubjectScope(summary::TaskType type, std::uint32_t object) : subject_{type, object}, on_(On()) {
    if (on_) ThisThread().subject = &subject_;
  }
  ~SubjectScope() {
    if (on_) ThisThread().subject = nullptr;
  }
  SubjectScope(const SubjectScope&) = delete;
  SubjectScope& operator=(const SubjectScope&) = delete;

 private:
  const Subject subject_;
  const bool on_;
};

/// Returns the number of a new queue.
std::uint64_t NextQueueNumber();

// ---- execution ----

/// Called after the submitting thread has executed a task.
void EndAtOnce(std::int64_t begin_ns);

/// Called when the calling thread begins to execute a task.
void BeginExecution(const TaskKey& task);
/// Called when it is completed. `begin_ns` is 0 if the trace was off at its begin.
void EndExecution(std::int64_t begin_ns, bool discarded);

/// The same with all data, for tasks that other threads execute.
void NoteExecution(const ExecutionRecord& record);

/// Called while a task is executed.
inline void NoteFailure(std::int32_t code) {
  if (On()) ThisThread().failure = code;
}
inline void NoteBytes(std::uint64_t bytes) {
  if (On()) ThisThread().bytes = bytes;
}
inline void NoteEnds(const MemoryEnd& dst, const MemoryEnd& src) {
  ThreadState& thread = ThisThread();
  thread.knows_ends = true;
  thread.ends = {dst, src};
}
inline void NotePath(summary::Path path, const char* reason) {
  if (!On()) return;
  ThisThread().path = path;
  ThisThread().reason = reason;
}
/// Offers the task to other engines. Returns its key for the helpers.
inline TaskKey ShareExecution() {
  if (!On()) return {};
  ThisThread().shared = true;
  return ThisThread().executing;
}
/// Called after the calling thread has helped with a task.
void EndShare(const TaskKey& task, std::int64_t begin_ns);

// ---- what there is ----

void NoteMemory(const MemoryRecord& record);
void NoteStream(const QueueLabel& queue, std::uint8_t flags);

}  // namespace sampan::trace
