// Decides which queue executes when.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "backend/api/copy_segment.h"
#include "backend/emulated/kernels/chunked_work.h"
#include "base/time/clock.h"

namespace sampan::emulated {

class EmulatedQueue;
class EmulatedTimeline;

/// Thread-safe. Called with no lock of a queue or a timeline held.
class QueueScheduler {
 public:
  virtual ~QueueScheduler() = default;

  /// The queue has work and no thread has its turn. The scheduler now has to execute it.
  virtual void MakeReady(std::shared_ptr<EmulatedQueue> queue) noexcept = 0;
  /// Re-checks the blocked queue at that time.
  virtual void WakeAt(Deadline time, std::weak_ptr<EmulatedQueue> queue) = 0;
  /// A program submitted a task.
  virtual void Submitted() {}
  /// A program asked for a value that is not reached yet.
  virtual void Polled(EmulatedTimeline&) {}
  /// A program waits for the sequence number. Works towards it. Returns when it is reached, when the deadline
  /// is over, or when the caller can only wait.
  virtual void Drive(EmulatedTimeline&, std::uint64_t /*value*/, Deadline) {}
  /// Whether a queue with nothing to do may execute a short task on its submitter's thread.
  virtual bool RunsShortTasksAtOnce() const { return false; }
  /// Puts the segments of a batch, which have no order among themselves, into the one that they are copied
  /// in.
  virtual void Arrange(std::span<Segment>) {}
  /// Runs the work on the calling thread, shared with idle engines.
  virtual void Run(const ChunkedWork& work) = 0;
};

}  // namespace sampan::emulated
