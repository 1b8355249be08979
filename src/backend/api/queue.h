// An in-order queue of tasks on a device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backend/api/queue_label.h"
#include "backend/api/task.h"
#include "backend/api/timeline.h"
#include "base/error/status.h"
#include "base/error/text.h"

namespace sampan {

/// Called for tasks that failed during execution, on the executing thread. That may be the submitter, so it
/// must not submit.
class QueueListener {
 public:
  virtual ~QueueListener() = default;
  /// Returns true to drop the tasks behind the failed one.
  virtual bool OnTaskFailed(std::uint64_t task, Status failure) noexcept = 0;
  /// Returns true if OnTaskFailed would drop them.
  virtual bool stops_on_failure() const noexcept { return false; }
};

/// The options of a new queue.
struct QueueOptions {
  QueueListener& listener;
  std::uint64_t depth;  ///< tasks that it holds; one more blocks its submitter
  QueueLabel label;     ///< which stream it is
};

/// Executes tasks in order, in parallel to other queues. Tasks have sequence numbers from 1. Thread-safe. The
/// backend's threads share it, so its owner must call Close.
class Queue {
 public:
  explicit Queue(const QueueLabel& label) : label_(label) {}
  virtual ~Queue() = default;

  /// Appends the task, or executes it at once where that is cheaper; blocks while the queue is full. Returns
  /// the task's number, which its timeline reaches with the task's end. Takes the task over. It must not come
  /// before the task with the number `earlier`: if that one was discarded, returns 0 and leaves the task
  /// alone. 0: there is no such task.
  virtual Result<std::uint64_t> Submit(Task& task, std::uint64_t earlier) = 0;
  virtual const std::shared_ptr<Timeline>& timeline() const = 0;
  /// The number of the last task submitted.
  virtual std::uint64_t submitted() const = 0;
  /// Whether submitters themselves execute effects that are for them.
  virtual bool LetsSubmittersRun() const { return false; }
  /// A hint: a task that is submitted now is the only one.
  virtual bool LooksIdle() const { return timeline()->completed() >= submitted(); }
  /// Drops everything submitted so far that has not started; returns the number of the last such task. The
  /// timeline stays before it until PassDiscarded: several queues can be discarded before one of them moves.
  /// Waits for recordings among them, or for recordings that depend on them, fail with the reason.
  virtual std::uint64_t Discard(Code reason) = 0;
  /// True if the task was submitted before the last Discard. It may be completed.
  virtual bool Discarded(std::uint64_t number) const = 0;
  /// Lets the timeline pass the dropped tasks.
  virtual void PassDiscarded() = 0;
  /// The program was told of the failures up to the task with this number. What is queued from now on does
  /// not depend on dropped work that they waited for.
  virtual void NoteTold(std::uint64_t failed) = 0;
  /// Refuses new tasks (107017), discards the queued ones, and waits for the task in progress. The listener
  /// is not called afterwards.
  virtual void Close() = 0;

  /// If the queue is blocked at a task, calls `look(number, task)` for it and those behind it, in their
  /// order. Returns false, without a call, if it is not. Never blocks and changes nothing. `look` must be
  /// short and must not use the queue.
  virtual bool Inspect(const std::function<void(std::uint64_t, const Task&)>& look) = 0;

  const QueueLabel& label() const { return label_; }
  /// Text for messages: which stream it is.
  std::string Describe() const { return Text("stream ", label_.stream, " of device ", label_.device); }

 protected:
  /// The error of Submit after Close.
  [[gnu::cold, gnu::noinline]] static Status IsClosed() {
    return {Code::kInvalidHandle, "the stream was destroyed at the same time"};
  }

 private:
  const QueueLabel label_;
};

}  // namespace sampan
