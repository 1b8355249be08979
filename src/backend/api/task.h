// The tasks that a queue executes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "backend/api/allocation.h"
#include "backend/api/copy_segment.h"
#include "backend/api/direction.h"
#include "backend/api/gate.h"
#include "backend/api/segment_list.h"
#include "backend/api/timeline.h"
#include "base/containers/inline_vector.h"
#include "base/error/status.h"
#include "base/error/text.h"
#include "base/reduce/reduce_kernels.h"
#include "base/threads/thread_sanitizer.h"

namespace sampan {

/// Segments have engine addresses. The uses keep their memory, and tell at execution whether it was freed.
/// The direction follows from the memory's places.
struct CopyTask {
  CopyTask(const Segment& bytes, AllocationUse to, AllocationUse from, Direction way)
      : segment(bytes), dst(std::move(to)), src(std::move(from)), direction(way) {}

  Segment segment;
  AllocationUse dst, src;
  Direction direction;
};

struct RowsTask {
  Rows rows;
  AllocationUse dst, src;
  Direction direction;
};

/// Many segments without an order. A few of them need no memory besides the task.
struct BatchTask {
  /// Longer entries are cut into segments of this size, so that engines can share them.
  static constexpr std::size_t kMaxSegmentBytes = std::size_t{1} << 20;
  /// Every allocation that a segment accesses, at least once.
  using Memory = InlineVector<AllocationUse, 2>;

  explicit BatchTask(SegmentStore& store) : segments(store) {}

  SegmentList segments;
  Memory memory;
  std::unique_ptr<std::byte[]> captured;  ///< copied source bytes, if the segments read them
  std::size_t bytes = 0;
  std::size_t longest = 0;  ///< the maximum of all segments
  Direction direction{};    ///< of every segment
  bool pageable = false;    ///< a segment begins or ends in pageable memory
};

/// Fills memory with the four bytes of the pattern.
struct FillTask {
  std::byte* dst;
  std::size_t bytes;
  std::uint32_t pattern;
  AllocationUse memory;
};

/// Resolves addresses that a program stored in device memory.
class AddressResolver {
 public:
  virtual ~AddressResolver() = default;
  enum class Access { kRead, kWrite };
  struct Resolved {
    std::byte* engine;                  ///< the engines' address
    std::vector<AllocationUse> memory;  ///< every allocation that it accesses
  };
  /// Resolves [address, +bytes) in memory of the device. An error says what is wrong with it.
  virtual Result<Resolved> ResolveDevice(std::uintptr_t address, std::size_t bytes, std::int32_t device,
                                         Access access) = 0;
};

/// A copy with operands in device memory, which are read when it executes.
struct IndirectTask {
  struct Content {
    enum class Form { kDescriptor, kPointerCells } form = Form::kDescriptor;
    AllocationUse operands_memory[2];
    /// kDescriptor: the descriptor and the offsets of its fields. kPointerCells: the cells of dst and src.
    const std::byte* operands[2] = {nullptr, nullptr};
    std::uint32_t length_at = 0, src_at = 0, dst_at = 0;
    /// kPointerCells only.
    std::size_t dst_offset = 0, src_offset = 0, bytes = 0;
    std::int32_t device = 0;
    AddressResolver* resolver = nullptr;
  };
  std::unique_ptr<Content> content;
};

/// The error of a wait for a recording that was dropped, or that depends on dropped work.
inline Status WaitedForDropped(Code reason, std::string_view event) {
  if (reason == Code::kOk) return {};
  return {reason, Text(event,
                       " was waited for, but its recording, or work that the recording depends on, was "
                       "dropped: a stream was aborted, destroyed or stopped at a failure")};
}

/// The result of a recording: its time, and why it was dropped, or work that it depends on.
struct Mark {
  std::atomic<std::int64_t> time_ns{0};
  std::atomic<Code> dropped{Code::kOk};  ///< set before the point is reached

  /// Call it after the point is reached. Fails if the recording depends on dropped work.
  Status Outcome(std::uint32_t event) const {
    const Code reason = dropped.load(std::memory_order_acquire);
    return reason == Code::kOk ? Status() : WaitedForDropped(reason, Text("event ", event));
  }
};

/// Holds the queue until the point is reached. Fails if the recording depends on dropped work, or at the time
/// limit. The time counts from when the queue reaches the wait.
struct WaitTask {
  Point point;
  std::chrono::seconds limit{0};     ///< 0: none
  std::uint32_t event = 0;           ///< whose point it is
  std::shared_ptr<const Mark> mark;  ///< null if only the order matters

  /// Call it after the point is reached.
  Status Outcome() const { return mark == nullptr ? Status() : mark->Outcome(event); }
  Error TimedOut() const {
    return {Code::kTaskTimeout,
            Text("a wait for event ", event, " in the stream ran past its time limit of ", limit.count(),
                 " s: task ", point.number, " of ", point.timeline->Describe(), " records it, ",
                 point.timeline->completed(), " tasks of that stream are completed")};
  }
};

/// Stores the time at which the queue reaches it.
struct MarkTask {
  std::shared_ptr<Mark> mark;
};

struct NoTask;
struct HostTask;
struct ReduceTask;
struct WordTask;
struct GateTask;
struct EffectTask;
struct MultiAllocationTask;
using Task = std::variant<NoTask, CopyTask, RowsTask, BatchTask, FillTask, IndirectTask, WaitTask, MarkTask,
                          HostTask, ReduceTask, WordTask, GateTask, EffectTask, MultiAllocationTask>;

/// Work outside the device. The queue waits for it.
class HostWork {
 public:
  HostWork() : order(races::Watched() ? std::make_shared<races::Key>() : nullptr) {}
  virtual ~HostWork() = default;
  /// Must not block. Calls `resume` exactly once, on any thread, which continues the queue.
  virtual void Start(std::function<void(Status)> resume) noexcept = 0;
  /// Works towards the end of begun work on the calling thread, which waits for it. Returns at `enough()`, or
  /// when sleeping would be faster.
  virtual void Help(const std::function<bool()>& /*enough*/) noexcept {}
  /// Whether Help does something.
  virtual bool takes_help() const { return false; }
  /// Text for messages: what the queue waits for while it runs.
  virtual std::string Describe() const { return "work of the host"; }
  /// True if it is a function of the program, which thus learns that the tasks before it are over.
  virtual bool runs_program() const { return false; }
  /// True if it accesses memory until it calls `resume`. Once it has started, the queue waits for its end, as
  /// for a copy of its own. It does so even if the work is dropped.
  virtual bool accesses_memory() const { return false; }
  /// Before Start: the copy or fill that it does instead of the device; null if it is none.
  virtual const Task* device_task() const { return nullptr; }

  /// The work follows the queue's release of the key, and the queue follows the work's. Null if races are not
  /// looked for.
  const std::shared_ptr<const races::Key> order;
};
struct HostTask {
  std::shared_ptr<HostWork> work;
};

/// Combines the source into the destination, element by element.
struct ReduceTask {
  Segment segment;
  AllocationUse dst, src;
  ReduceOperation operation;
  ReduceElement element;
};

/// Writes an aligned 64-bit word of device memory.
struct WordTask {
  std::byte* word;
  std::uint64_t value;
  AllocationUse memory;
};

/// A task's gate. Its destructor releases the gate's memory, before a waiter sees the task as completed.
/// Move-only.
class OwnedGate {
 public:
  template <typename Kind>
  OwnedGate(std::shared_ptr<Kind> gate) : gate_(std::move(gate)) {}
  OwnedGate(OwnedGate&&) noexcept = default;
  OwnedGate& operator=(OwnedGate&& other) noexcept {
    OwnedGate(std::move(other)).gate_.swap(gate_);
    return *this;
  }
  ~OwnedGate() {
    if (gate_ != nullptr) gate_->Release();
  }

  const std::shared_ptr<Gate>& get() const { return gate_; }
  Gate* operator->() const { return gate_.get(); }

 private:
  std::shared_ptr<Gate> gate_;
};

/// Holds the queue until it passes the gate, or fails at the time limit. The time counts from when the queue
/// reaches the gate.
struct GateTask {
  OwnedGate gate;
  std::chrono::nanoseconds limit{0};  ///< 0: none
};

/// Memory that an action accesses.
struct EffectAccess {
  const Allocation* memory;
  const std::byte* engine;
  std::uint64_t bytes;
  bool writes;
};
/// An action in stream order: sets a signal, writes a word, or moves bytes that only it knows.
class Effect {
 public:
  virtual ~Effect() = default;
  virtual Status Apply() noexcept = 0;
  /// The bytes that it moves: a long action is not executed by a thread that has other things to do.
  virtual std::size_t bytes() const noexcept { return 0; }
  /// It may wait some microseconds for other threads. Its submitter executes it if the queue is idle.
  virtual bool is_for_submitter() const noexcept { return false; }
  /// The effect, or work that it depends on, was dropped. Called before Apply, or instead of it.
  virtual void NoteDropped(Code /*reason*/) noexcept {}
  /// The object that it writes, which may be what a gate waits for; null: none. Compared, never dereferenced.
  virtual const void* target() const noexcept { return nullptr; }
  /// The memory whose bytes it moves, for the observer that judges their order.
  virtual std::vector<EffectAccess> Accesses() const { return {}; }
  /// The memory that it writes, or that effects behind it do: checked against the limit of memory before
  /// Apply.
  virtual std::vector<EffectAccess> MemoryToWrite() const { return {}; }
  /// The limit refuses it: Apply is not called, and its task fails for that reason.
  virtual void NoteRefused(const Status& /*reason*/) noexcept {}
};
struct EffectTask {
  std::shared_ptr<Effect> effect;
};

/// A task on memory of several allocations. Owns the uses that do not fit into the inner task.
struct MultiAllocationTask {
  struct Content;
  MultiAllocationTask() = default;
  MultiAllocationTask(MultiAllocationTask&&) noexcept;
  MultiAllocationTask& operator=(MultiAllocationTask&&) noexcept;
  ~MultiAllocationTask();
  std::unique_ptr<Content> content;
};

/// An empty task. Its constructor is not constexpr, because compilers would then clear the whole variant.
struct NoTask {
  NoTask() noexcept {}  // NOLINT(modernize-use-equals-default)
};

struct MultiAllocationTask::Content {
  Task task;
  std::vector<AllocationUse> uses;
};
/// Waits for a recording learn that it, or work that it depends on, was dropped.
inline void NoteDropped(Task& task, Code reason) {
  if (auto* const mark = std::get_if<MarkTask>(&task)) {
    mark->mark->dropped.store(reason, std::memory_order_release);
  } else if (auto* const effect = std::get_if<EffectTask>(&task)) {
    effect->effect->NoteDropped(reason);
  }
}
inline MultiAllocationTask::MultiAllocationTask(MultiAllocationTask&&) noexcept = default;
inline MultiAllocationTask& MultiAllocationTask::operator=(MultiAllocationTask&&) noexcept = default;
inline MultiAllocationTask::~MultiAllocationTask() = default;

}  // namespace sampan
