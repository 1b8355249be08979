// What a queue can be asked to do.
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
#include "base/inline_vector.h"
#include "base/reduce_kernels.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread_sanitizer.h"

namespace sampan {

/// Segments carry engine addresses; the uses keep their memory, and say at execution whether it was freed.
/// The direction is that of the memory's places.
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

/// Many segments, unordered among themselves. Few of them need no memory besides the task.
struct BatchTask {
  /// Longer entries are cut into segments of this size, so that engines can share them.
  static constexpr std::size_t kMaxSegmentBytes = std::size_t{1} << 20;
  /// Every allocation that a segment touches, at least once.
  using Memory = InlineVector<AllocationUse, 2>;

  explicit BatchTask(SegmentStore& store) : segments(store) {}

  SegmentList segments;
  Memory memory;
  std::unique_ptr<std::byte[]> captured;  ///< source bytes taken at submission, where the segments read those
  std::size_t bytes = 0;
  std::size_t longest = 0;  ///< no segment has more bytes
  Direction direction{};    ///< of every segment
  bool pageable = false;    ///< a segment begins or ends in pageable memory
};

/// Writes the four bytes of the pattern over and over.
struct FillTask {
  std::byte* dst;
  std::size_t bytes;
  std::uint32_t pattern;
  AllocationUse memory;
};

/// Turns the addresses that a program stored in device memory into memory that may be touched.
class AddressResolver {
 public:
  virtual ~AddressResolver() = default;
  enum class Access { kRead, kWrite };
  struct Resolved {
    std::byte* engine;                  ///< where the engines see it
    std::vector<AllocationUse> memory;  ///< every allocation that it touches
  };
  /// The device memory at [address, +bytes) on that device; a failure says what is wrong with it.
  virtual Result<Resolved> ResolveDevice(std::uintptr_t address, std::size_t bytes, std::int32_t device,
                                         Access access) = 0;
};

/// A copy whose operands lie in device memory and are read when it executes.
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

/// What a recording leaves: when the queue came by, or why it was dropped.
struct Mark {
  std::atomic<std::int64_t> time_ns{0};
  std::atomic<Code> dropped{Code::kOk};  ///< set before the point is reached

  /// Once the point is reached: a failure if the recording was dropped.
  Status Outcome(std::uint32_t event) const {
    const Code reason = dropped.load(std::memory_order_acquire);
    if (reason == Code::kOk) return {};
    return {reason, Text("event ", event,
                         " was waited for, but its recording was dropped with the work "
                         "before it: its stream was aborted, destroyed or stopped at a failure")};
  }
};

/// Holds the queue back until the point is reached; fails if the recording there was dropped. With a time
/// limit, fails when that is over. The time counts from when the queue stands at the wait.
struct WaitTask {
  Point point;
  std::chrono::seconds limit{0};     ///< 0: none
  std::uint32_t event = 0;           ///< whose point it is
  std::shared_ptr<const Mark> mark;  ///< null where the order is all that matters

  /// Once the point is reached.
  Status Outcome() const { return mark == nullptr ? Status() : mark->Outcome(event); }
  Error TimedOut() const {
    return {Code::kTaskTimeout, Text("a wait for event ", event, " in the stream ran past its time limit of ",
                                     limit.count(), " s")};
  }
};

/// Stores the time at which the queue came by.
struct MarkTask {
  std::shared_ptr<Mark> mark;
};

/// Work outside the device, during which the queue stands still.
class HostWork {
 public:
  HostWork() : order(races::Watched() ? std::make_shared<races::Key>() : nullptr) {}
  virtual ~HostWork() = default;
  /// Must not block. `resume` is called exactly once, from any thread, and lets the queue go on.
  virtual void Start(std::function<void(Status)> resume) noexcept = 0;

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

/// A task's gate. With the task ends the gate's use of memory, before a waiter can learn that the task is
/// over. Move-only.
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

/// Holds the queue back until the gate lets it pass; with a time limit, fails when that is over. The time
/// counts from the moment at which the queue stands before the gate.
struct GateTask {
  OwnedGate gate;
  std::chrono::nanoseconds limit{0};  ///< 0: none
};

/// Something short that happens when the queue comes by: a signal, a word written.
class Effect {
 public:
  virtual ~Effect() = default;
  virtual Status Apply() noexcept = 0;
};
struct EffectTask {
  std::shared_ptr<Effect> effect;
};

/// A task on memory that spans several allocations. Holds the uses that do not fit into the inner task.
struct MultiAllocationTask {
  struct Content;
  MultiAllocationTask() = default;
  MultiAllocationTask(MultiAllocationTask&&) noexcept;
  MultiAllocationTask& operator=(MultiAllocationTask&&) noexcept;
  ~MultiAllocationTask();
  std::unique_ptr<Content> content;
};

/// Nothing to do. Its constructor is no constant expression, because compilers clear a whole variant that is
/// one.
struct NoTask {
  NoTask() noexcept {}  // NOLINT(modernize-use-equals-default)
};

using Task = std::variant<NoTask, CopyTask, RowsTask, BatchTask, FillTask, IndirectTask, WaitTask, MarkTask,
                          HostTask, ReduceTask, WordTask, GateTask, EffectTask, MultiAllocationTask>;

struct MultiAllocationTask::Content {
  Task task;
  std::vector<AllocationUse> uses;
};
inline MultiAllocationTask::MultiAllocationTask(MultiAllocationTask&&) noexcept = default;
inline MultiAllocationTask& MultiAllocationTask::operator=(MultiAllocationTask&&) noexcept = default;
inline MultiAllocationTask::~MultiAllocationTask() = default;

}  // namespace sampan
