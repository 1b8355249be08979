// Decides which queue executes when.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "backend/api/copy_segment.h"
#include "backend/emulated/kernels/chunked_work.h"
#include "backend/emulated/memory/write_budget.h"
#include "base/time/clock.h"

namespace sampan::emulated {

class EmulatedQueue;
class EmulatedTimeline;

/// Thread-safe. Callers hold no lock of a queue or a timeline.
class QueueScheduler {
 public:
  /// Without a budget, tasks may write as much as they like.
  explicit QueueScheduler(WriteBudget* writes = nullptr) : writes_(writes) {}
  virtual ~QueueScheduler() = default;

  /// The budget that a task has to ask before it writes device memory; usually none.
  WriteBudget* CountedWrites() const { return writes_ != nullptr && writes_->Counts() ? writes_ : nullptr; }

  /// The queue has work, and no thread has its turn. The scheduler has to execute it.
  virtual void MakeReady(std::shared_ptr<EmulatedQueue> queue) noexcept = 0;
  /// Re-checks the blocked queue at that time.
  virtual void WakeAt(Deadline time, std::weak_ptr<EmulatedQueue> queue) = 0;
  /// A program submitted a task.
  virtual void Submitted() {}
  /// A program asked for a number that is not reached yet.
  virtual void Polled(EmulatedTimeline&) {}
  /// A program waits for the sequence number. Works towards it. Returns when it is reached, when the deadline
  /// is over, or when the caller can only wait.
  virtual void Drive(EmulatedTimeline&, std::uint64_t /*number*/, Deadline) {}
  /// Whether a queue with nothing to do may execute a short task on its submitter's thread.
  virtual bool RunsShortTasksAtOnce() const { return false; }
  /// Chooses the order in which the segments of a batch are copied. A batch has no order of its own.
  virtual void Arrange(std::span<Segment>) {}
  /// Runs the work on the calling thread, and shares it with idle engines.
  virtual void Run(const ChunkedWork& work) = 0;

 private:
  WriteBudget* const writes_;
};

}  // namespace sampan::emulated
