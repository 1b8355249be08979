// An in-order queue of tasks on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backend/api/task.h"
#include "backend/api/timeline.h"
#include "base/status.h"
#include "trace/record.h"

namespace sampan {

/// Is told of tasks that failed while they executed. Called from whichever thread executes the task, which
/// may be its submitter: must not submit.
class QueueListener {
 public:
  virtual ~QueueListener() = default;
  /// True: drop what is queued behind the failed task.
  virtual bool OnTaskFailed(std::uint64_t value, Status failure) noexcept = 0;
};

/// Executes tasks one after the other; parallel to other queues. Thread-safe. Shared with the backend's
/// threads, so its owner ends it with Close.
class Queue {
 public:
  virtual ~Queue() = default;
  /// Appends; blocks while the queue is full. Returns the timeline value that the task's end will give.
  virtual Result<std::uint64_t> Submit(Task&& task) = 0;
  /// What TryExpress takes; nothing by default. Set once, by the queue itself.
  struct ExpressLimits {
    std::size_t segments = 0, bytes = 0;
  } express;
  /// Copies between two live allocations without a task being made for them, where nothing stands in their
  /// way: they are on their way, or over, as if they had been submitted. The queue keeps the uses for as long
  /// as it needs them. Gives the task's number; 0: nothing was done, and they have to be submitted. `traced`
  /// gets the times, where it is not null; a queue whose copies are only on their way refuses then.
  virtual std::uint64_t TryExpress(std::span<const Segment>, AllocationUse& /*dst*/, AllocationUse& /*src*/,
                                   trace::Span* /*traced*/) {
    return 0;
  }
  virtual const std::shared_ptr<Timeline>& timeline() const = 0;
  /// The value of the last task submitted.
  virtual std::uint64_t submitted() const = 0;
  /// Drops everything submitted so far that has not started; the timeline passes over it.
  virtual void Discard() = 0;
  /// Refuses what comes from now on (107017), discards, and waits for the task in progress: the listener is
  /// not called any more afterwards.
  virtual void Close() = 0;

  /// Which stream it is, in traces. Set once, before anything is submitted.
  trace::QueueLabel label;
};

}  // namespace sampan
