// The hooks by which the layers tell what they do. With no observer, each costs one load.
#pragma once

#include <cstdint>

#include "observe/event_clock.h"
#include "observe/observer.h"
#include "observe/observers.h"

namespace sampan::observe {

/// What the calling thread is about, until an event tells it.
struct ThreadContext {
  ThreadRole role;
  // The task that is being submitted.
  const Subject* subject = nullptr;
  Word word;
  Peer peer;
  // The task that is being executed, or that was last.
  Execution executing;
  std::uint64_t next_serial = 0, end_serial = 0;  // a block of its own at a time
  bool serves_operator = false;  // its calls are parts of a collective operator, which was told
};

namespace internal {
[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadContext this_thread;
}  // namespace internal

inline ThreadContext& ThisThread() noexcept {
  return internal::this_thread;
}

/// What the calling thread is for.
void SetRole(ThreadRole role) noexcept;

// ---- calls ----

/// With a peer, known or not, it is a call of HCCL's. The name is a text that stays.
void BeginCall(const char* name, const Peer* peer) noexcept;
void EndCall(const char* name, std::int32_t code) noexcept;
/// The call waits for something of the device. Only while On.
void TellAwaited(const AwaitedWork& awaited) noexcept;

/// A wait of the host inside of a call: from its making to its end. Off: nothing.
class HostWait {
 public:
  HostWait(WaitReason reason, const QueueLabel& queue)
      : reason_(reason), queue_(queue), begin_ns_(On() ? Begin() : 0) {}
  ~HostWait() {
    if (begin_ns_ != 0) End();
  }
  HostWait(const HostWait&) = delete;
  HostWait& operator=(const HostWait&) = delete;

 private:
  std::int64_t Begin() noexcept;
  void End() noexcept;

  const WaitReason reason_;
  const QueueLabel& queue_;
  const std::int64_t begin_ns_;
};

// ---- submission ----

/// What a task is by its own kind.
TaskType TypeOf(const Task& task);

/// Names the subject of every task that this thread submits while the scope lives.
class SubjectScope {
 public:
  SubjectScope(TaskType type, std::uint32_t object, bool shared = false)
      : subject_{type, object, shared}, on_(On()) {
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

/// The word that the next task of such a subject is about.
inline void NoteWord(const Word& word) {
  if (On()) ThisThread().word = word;
}
/// The peer of the tasks that this thread submits from now on.
inline void NotePeer(const Peer& peer) {
  if (On()) ThisThread().peer = peer;
}

/// Only while On. What the calling thread has said about the task, with a serial number of its own.
/// The queue's label lives until EndSubmission.
Submission BeginSubmission(const QueueLabel& queue, const BlockingReason* blocking,
                           const Task& task) noexcept;
/// The task has that number in its queue; 0: a blocking task, which the calling thread has executed.
void EndSubmission(const Submission& submission, std::uint64_t number) noexcept;

// ---- execution ----

/// The task that the calling thread begins to execute.
inline void BeginExecution(const TaskKey& task) {
  Execution& execution = ThisThread().executing;
  execution.task = task;
  execution.bytes = 0;
  execution.reason = nullptr;
  execution.code = 0;
  execution.multiprocessors = 0;
  execution.path = Path::kNone;
  execution.knows_ends = execution.discarded = execution.shared = execution.at_once = false;
}
/// It is over, and its thread is also the one that submits it: told with the submission.
inline void EndAtOnce(std::int64_t begin_ns) {
  Execution& execution = ThisThread().executing;
  execution.begin_ns = begin_ns;
  execution.end_ns = NowNs();
  execution.at_once = true;
}
/// It is over. A beginning of 0 means that no observer was there then.
void EndExecution(std::int64_t begin_ns, bool discarded) noexcept;
/// The same with everything known, for tasks that a driver executes.
void TellExecution(const Execution& execution) noexcept;

/// Said while a task is executed.
inline void NoteFailure(std::int32_t code) {
  if (On()) ThisThread().executing.code = code;
}
inline void NoteBytes(std::uint64_t bytes) {
  if (On()) ThisThread().executing.bytes = bytes;
}
/// Only while On.
inline void NoteEnds(const MemoryEnd& dst, const MemoryEnd& src) {
  ThisThread().executing.knows_ends = true;
  ThisThread().executing.ends = {dst, src};
}
inline void NotePath(Path path, const char* reason) {
  if (!On()) return;
  ThisThread().executing.path = path;
  ThisThread().executing.reason = reason;
}
/// A kernel of the task has so many multiprocessors.
inline void NoteKernel(std::uint32_t multiprocessors) {
  if (!On()) return;
  Execution& execution = ThisThread().executing;
  if (multiprocessors > execution.multiprocessors) execution.multiprocessors = multiprocessors;
}
/// The task is offered to other engines; gives its key for those that help.
inline TaskKey ShareExecution() {
  if (!On()) return {};
  ThisThread().executing.shared = true;
  return ThisThread().executing.task;
}
/// Only while On.
void TellOperator(const OperatorEvent& event) noexcept;
void TellTransfer(const TransferEvent& event) noexcept;
/// The calling thread helped with it since then.
void EndShare(const TaskKey& task, std::int64_t begin_ns) noexcept;

// ---- what the program knows, and what it does wrong: only while On ----

void TellHostCode(const QueueLabel& queue, std::uint64_t task) noexcept;
/// Of one task; 0: of all that have failed.
void TellFailureSeen(const QueueLabel& queue, std::uint64_t task) noexcept;
void TellMistake(const Mistake& mistake) noexcept;
void TellHostWrote(const MemoryEnd& begin, std::uint64_t bytes) noexcept;
void TellSignalCleared(const void* target) noexcept;
[[gnu::cold]] void TellLearned(const Timeline& timeline, std::uint64_t task) noexcept;
/// The calling thread tells the program that the point is reached. Off: nothing.
inline void Learned(const Point& point) noexcept {
  if (On() && point.timeline != nullptr) TellLearned(*point.timeline, point.number);
}

// ---- what there is: only while On ----

void TellMemory(const MemoryEvent& event) noexcept;
void TellStream(const StreamEvent& event) noexcept;
void TellObject(const ObjectEvent& event) noexcept;

}  // namespace sampan::observe
