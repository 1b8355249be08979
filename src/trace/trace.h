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

/// A public call while it runs; lies on its stack.
struct Call {
  std::int64_t begin_ns = 0;  ///< 0: not traced
  // What the call did meanwhile; set with the beginning.
  Call* outer;
  std::int64_t ready_ns;  ///< since when it could submit: its beginning, or the end of a wait for room
  std::uint64_t connection;
  summary::Awaited awaited;
  std::int32_t device;
  std::uint32_t object;
  std::uint64_t task;
  bool did_short_copy;  ///< the thread's short_copy is all that it did
};

/// A word in device memory that a task writes or waits for.
struct Word {
  MemoryEnd place{};
  WordShape shape{};
};

/// A call of HCCL's, whose library does not know what a Call is.
struct PlatformCall {
  Call call;
  Peer peer;
};

/// What a task is about, where the task itself does not tell.
struct Subject {
  summary::TaskType type = summary::TaskType::kOther;
  std::uint32_t object = 0;
};

/// A task that engines share, as those who help name it.
struct TaskKey {
  QueueLabel queue;
  std::uint64_t task = 0;
  summary::TaskType type = summary::TaskType::kOther;
};

/// What the trace knows of a thread. Made at its first record; goes with the thread.
struct ThreadState {
  explicit ThreadState(std::shared_ptr<ThreadBuffer> own) : buffer(std::move(own)) {}

  const std::shared_ptr<ThreadBuffer> buffer;
  Call* call = nullptr;
  std::deque<PlatformCall> platform_calls;                 // those that have not ended, the innermost last
  std::uint64_t next_connection = 0, last_connection = 0;  // a block of its own at a time
  // Said about the task that is being submitted.
  const Subject* subject = nullptr;
  Word word;
  Peer peer;
  // Said about the task that is being executed.
  TaskKey executing;
  bool shared = false;
  std::int32_t failure = 0;
  std::uint64_t bytes = 0;
  bool knows_ends = false;
  std::array<MemoryEnd, 2> ends{};  // destination and source
  summary::Path path = summary::Path::kNone;
  const char* reason = nullptr;
  ShortCopyRecord short_copy;  // of the call, where that says so
  // Of a task that was executed by its submitter.
  std::int64_t at_once_begin_ns = 0, at_once_end_ns = 0;

  std::uint64_t TakeConnection();
};

/// The calling thread's, while the trace is on.
ThreadState& ThisThread();
/// Makes it; if there is no memory for it, turns the trace off and answers false.
bool HasThreadState() noexcept;
/// What the calling thread is for; before its first record.
void SetRole(ThreadRole role) noexcept;

// ---- calls ----

/// The name is a text that stays.
void BeginCall(Call& call, const char* name) noexcept;
void EndCall(Call& call, const char* name, std::int32_t code) noexcept;
/// The same for one of HCCL's. False when there is no memory for it: then it is not ended either.
bool BeginPlatformCall(const char* name, const Peer& peer) noexcept;
void EndPlatformCall(const char* name, std::int32_t code) noexcept;
/// The call waits for something of the device.
void NoteAwaited(summary::Awaited awaited, std::int32_t device, std::uint32_t object, std::uint64_t task);

/// A wait of the host inside of a call: from its making to its end. Off: nothing.
class HostWait {
 public:
  HostWait(summary::WaitReason reason, const QueueLabel& queue)
      : reason_(reason), queue_(queue), begin_ns_(On() ? Begin() : 0) {}
  ~HostWait() {
    if (begin_ns_ != 0) End();
  }
  HostWait(const HostWait&) = delete;
  HostWait& operator=(const HostWait&) = delete;

 private:
  std::int64_t Begin() noexcept;
  void End() noexcept;

  const summary::WaitReason reason_;
  const QueueLabel& queue_;
  const std::int64_t begin_ns_;
};

// ---- submission ----

/// Names the subject of every task that this thread submits while the scope lives.
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

/// The number of a queue that is being made.
std::uint64_t NextQueueNumber();

// ---- execution ----

/// After the execution of a task by the thread that submitted it.
void EndAtOnce(std::int64_t begin_ns);

/// The task that the calling thread begins to execute.
void BeginExecution(const TaskKey& task);
/// It is over. A beginning of 0 means that the trace was off then.
void EndExecution(std::int64_t begin_ns, bool discarded);

/// The same with everything known, for tasks that others execute.
void NoteExecution(const ExecutionRecord& record);

/// Said while a task is executed.
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
/// The task is offered to other engines; gives its name for those who help.
inline TaskKey ShareExecution() {
  if (!On()) return {};
  ThisThread().shared = true;
  return ThisThread().executing;
}
/// The calling thread helped with it since then.
void EndShare(const TaskKey& task, std::int64_t begin_ns);

// ---- what there is ----

void NoteMemory(const MemoryRecord& record);
void NoteStream(const QueueLabel& queue, std::uint8_t flags);

}  // namespace sampan::trace
