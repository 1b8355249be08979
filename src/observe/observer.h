// What observers are told: the events, and the interface that takes them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "backend/api/place.h"
#include "backend/api/queue_label.h"
#include "backend/api/task.h"
#include "backend/api/timeline.h"
#include "observe/activity.h"
#include "observe/memory_end.h"

namespace sampan::observe {

/// Who is on the other side, where HCCL knows it.
struct Peer {
  const char* link = nullptr;  ///< a text that stays; null: none
  std::int32_t rank = -1;      ///< -1: none

  bool known() const { return link != nullptr || rank >= 0; }
};

/// What a thread of the runtime is for.
struct ThreadRole {
  enum class Kind : std::uint8_t { kProgram, kEngine, kWatch } kind = Kind::kProgram;
  std::uint32_t number = 0;  ///< of an engine
};

/// What a call waits for.
struct AwaitedWork {
  Awaited kind = Awaited::kNothing;
  std::int32_t device = 0;
  std::uint32_t object = 0;  ///< the stream or event
  std::uint64_t task = 0;    ///< the last task of the stream
};

/// A wait of the host inside of a call that is not for waiting. It begins.
struct HostWaitBegin {
  WaitReason reason;
  const QueueLabel& queue;
  std::int64_t begin_ns;
};

/// The same when it is over.
struct HostWaitEvent {
  WaitReason reason;
  const QueueLabel& queue;
  std::int64_t begin_ns, end_ns;
};

/// What a task is about, where the task itself does not tell.
struct Subject {
  TaskType type = TaskType::kOther;
  std::uint32_t object = 0;  ///< the number of an event or notify
  bool shared = false;       ///< other processes use the object too
};

/// A word in device memory that a task writes or waits for.
struct Word {
  MemoryEnd place{};
  std::uint64_t value = 0;
  std::uint64_t condition = 0;  ///< of a wait: ValueCondition
};

/// Why a copy is done before its call returns.
struct BlockingReason {
  bool asynchronous_call = false;  ///< the call would not have had to
  QueueLabel queue{};              ///< the stream that it was asked for on, if any
  const char* text = "a blocking call";
};

/// A task on its way into a queue, or one that its call executes outside every queue.
struct Submission {
  std::uint64_t serial;     ///< unique in the process
  const QueueLabel& queue;  ///< of a blocking task: the stream that it was asked for on, and its device
  const Peer& peer;
  const Subject* subject;          ///< null: the task says what it is
  const Word& word;                ///< of a subject that is a word
  const BlockingReason* blocking;  ///< null: the task goes into the queue
};

/// Which task is executed.
struct TaskKey {
  QueueLabel queue;          ///< number 0: a blocking task
  std::uint64_t number = 0;  ///< in its queue; of a blocking task its serial
  TaskType type = TaskType::kOther;
};

/// A task that was executed or dropped.
struct Execution {
  TaskKey task;
  std::int64_t begin_ns = 0, end_ns = 0;  ///< the beginning is 0 if it was not observed
  std::uint64_t bytes = 0;                ///< where only the execution could tell; otherwise 0
  const char* reason = nullptr;           ///< where the backend chose a path
  std::array<MemoryEnd, 2> ends{};        ///< destination and source, where only the execution could tell
  std::int32_t code = 0;                  ///< of its failure
  std::uint32_t multiprocessors = 0;      ///< the most that a kernel of it had; 0: no kernel
  Path path = Path::kNone;
  bool knows_ends = false;
  bool discarded = false;  ///< dropped without being executed
  bool shared = false;     ///< engines took part
  bool at_once = false;    ///< by the thread that submitted it, without standing in the queue
  bool by_driver = false;
  bool timed = true;  ///< begin and end are those of the work itself
};

/// A rank's part in an operator of a communicator, which is over. All texts stay.
struct OperatorEvent {
  const QueueLabel& queue;
  const char* name;
  const char* algorithm;
  std::uint64_t bytes;  ///< that the rank moved
  std::uint32_t rank, ranks;
  std::uint32_t slowest;  ///< the rank that came last, as far as this one saw
  std::int64_t begin_ns;  ///< this rank came
  std::int64_t met_ns;    ///< all ranks had come
  std::int64_t moved_ns;  ///< it had moved its bytes
  std::int64_t end_ns;    ///< all ranks it depends on had
};

/// A transfer with a process of another host, which is over.
struct TransferEvent {
  TransferKind kind;
  std::string_view peer;  ///< its process and address
  std::uint64_t bytes;
  std::uint64_t wire_bytes;  ///< both ways, with the headers of frames
  std::int64_t begin_ns, end_ns;
  std::int32_t code;  ///< of its failure
};

/// What became of memory.
enum class MemoryChange : std::uint8_t {
  kMade,
  kFreed,    ///< the program freed it by its address
  kDropped,  ///< freed with its device or its pool, behind the work that used it
};

/// How memory became known to the runtime.
enum class MemoryKind : std::uint8_t {
  kOwn,         ///< of a source of the backend
  kRegistered,  ///< the program's own, at one address for the program and the engines
  kMapped,      ///< of a handle, which may be mapped elsewhere too
  kImported,    ///< another process has it too
  kPool,        ///< a part of a pool's chunk
};

/// Memory that became known to the runtime, or that was freed.
struct MemoryEvent {
  MemoryChange change;
  std::uint64_t allocation, bytes, address;
  const char* made_by;
  Place place;
  MemoryKind kind = MemoryKind::kOwn;
  std::uint64_t usable_bytes = 0;   ///< with rounding
  std::ptrdiff_t engine_delta = 0;  ///< the engines' address minus the program's

  bool freed() const { return change != MemoryChange::kMade; }
};

/// A stream that was made or destroyed.
struct StreamEvent {
  const QueueLabel& queue;
  const Timeline* timeline;  ///< compared, never dereferenced
  bool destroyed = false;
  bool of_context = false;  ///< a context's own
};

/// An event, or a context that the program made, was made or destroyed.
struct ObjectEvent {
  enum class Kind : std::uint8_t { kEvent, kContext } kind;
  const void* handle = nullptr;
  std::int32_t device = 0;
  bool destroyed = false;
};

/// A call that is refused, or that does less than it says.
struct Mistake {
  enum class Kind : std::uint8_t {
    kOutOfBounds,    ///< [address, +bytes) leaves its allocation
    kNotAllocated,   ///< the address is the runtime's, and no allocation is there
    kNeverRecorded,  ///< the stream waits for an event that was never recorded
    kWrongKind,      ///< the copy's kind contradicts its memory
  } kind;
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t allocation = 0;       ///< 0: none
  const QueueLabel* queue = nullptr;  ///< null: none
  std::uint32_t object = 0;           ///< the number of the event
  bool reads = false;                 ///< the call would have read there, and not written
};

/// Told what the runtime does, by the thread that does it. Any threads at the same time. A queue may hold its
/// own lock meanwhile, so an observer does not call the runtime. It is never destroyed: a thread may still be
/// telling it when it is detached.
class Observer {
 public:
  virtual ~Observer() = default;

  /// The calling thread is one of the runtime's, with a role.
  virtual void OnThreadBegan(const ThreadRole& role) noexcept = 0;

  /// A public call of the calling thread. Calls nest. With a peer, known or not, it is one of HCCL's. The
  /// name is a text that stays.
  virtual void OnCallBegan(const char* name, const Peer* peer) noexcept = 0;
  virtual void OnCallEnded(const char* name, std::int32_t code) noexcept = 0;
  virtual void OnCallAwaits(const AwaitedWork& awaited) noexcept = 0;
  virtual void OnHostWaitBegan(const HostWaitBegin& wait) noexcept = 0;
  virtual void OnHostWait(const HostWaitEvent& wait) noexcept = 0;

  /// The calling thread is about to hand over the task. It has not begun.
  virtual void OnSubmitting(const Submission& submission, const Task& task) noexcept = 0;
  /// It did. The number is that in the queue; 0 for a blocking task. The execution is there if the calling
  /// thread has executed the task. Otherwise OnExecuted may have come before. A refused task has no such
  /// event.
  virtual void OnSubmitted(const Submission& submission, std::uint64_t number,
                           const Execution* execution) noexcept = 0;
  /// A queue completed a task that stood in it.
  virtual void OnExecuted(const Execution& execution) noexcept = 0;
  /// The calling thread helped with a task of another thread since then.
  virtual void OnHelped(const TaskKey& task, std::int64_t begin_ns) noexcept = 0;

  /// The thread that executes the stream has ended an operator.
  virtual void OnOperator(const OperatorEvent& /*event*/) noexcept {}

  /// Told by the thread that heard of the end.
  virtual void OnTransfer(const TransferEvent& /*event*/) noexcept {}

  virtual void OnMemory(const MemoryEvent& event) noexcept = 0;
  virtual void OnStream(const StreamEvent& event) noexcept = 0;

  // Of interest to a checker alone.

  /// It judges the order of tasks, so that it must be told of every wait as a task.
  virtual bool judges_order() const noexcept { return false; }

  /// The program was told that the task, and what is before it in its queue, is over.
  virtual void OnLearned(const Timeline& /*timeline*/, std::uint64_t /*task*/) noexcept {}
  /// The queue is about to let a function of the program run.
  virtual void OnHostCode(const TaskKey& /*task*/) noexcept {}
  /// The program was told of the failure of a task; 0: of all tasks of the stream that have failed.
  virtual void OnFailureSeen(const QueueLabel& /*queue*/, std::uint64_t /*task*/) noexcept {}
  virtual void OnMistake(const Mistake& /*mistake*/) noexcept {}
  /// The host wrote memory through the device, outside of every task that is told.
  virtual void OnHostWrote(const MemoryEnd& /*begin*/, std::uint64_t /*bytes*/) noexcept {}
  virtual void OnObject(const ObjectEvent& /*event*/) noexcept {}
  /// The host cleared a signal. The target is what its gate and its effects name.
  virtual void OnSignalCleared(const void* /*target*/) noexcept {}
};

}  // namespace sampan::observe
