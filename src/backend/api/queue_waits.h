// The state of the task that blocks a queue: its start, and the result of a host function.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "backend/api/gate.h"
#include "base/error/assert.h"
#include "base/error/status.h"
#include "base/time/clock.h"

namespace sampan {

/// A queue that stands at a wait. The time limit counts from when it first stands there. Belongs to the
/// thread that executes the queue.
class StandingWait {
 public:
  /// The queue is blocked at this task. A second call for the same task changes nothing. 0: no limit.
  void Begin(std::uint64_t task, std::chrono::nanoseconds limit) {
    if (task_ == task) return;
    SAMPAN_ASSERT(task > task_);
    task_ = task;
    since_ = Clock::now();
    deadline_ = limit.count() == 0 ? kNever : since_ + limit;
  }
  Deadline since() const { return since_; }
  Deadline deadline() const { return deadline_; }
  bool IsOverdue() const { return deadline_ != kNever && Clock::now() >= deadline_; }

  /// Success if the gate is open, a failure if it never opens or the time is over, nothing while it is
  /// closed. `ask`: also ask whether the gate can still open, which may be expensive.
  std::optional<Status> TryPass(Gate& gate, std::chrono::nanoseconds limit, bool ask = true) {
    SAMPAN_ASSERT(task_ != 0);  // the queue stands there
    if (gate.TryPass()) return Status();
    if (ask) {
      if (Status possible = gate.Check(); !possible.ok()) return possible;
    }
    if (IsOverdue()) return gate.TimedOut(limit);
    return std::nullopt;
  }

 private:
  std::uint64_t task_ = 0;
  Deadline since_ = kNever, deadline_ = kNever;
};

/// The result of a host function, which any thread delivers. Thread-safe.
class HostOutcome {
 public:
  /// Returns false if the result of this or a later task is known: the task was discarded meanwhile.
  bool Deliver(std::uint64_t task, Status status) {
    const std::lock_guard lock(mutex_);
    SAMPAN_ASSERT(task != 0);
    if (task <= task_) return false;
    task_ = task;
    status_ = std::move(status);
    return true;
  }
  bool Known(std::uint64_t task) {
    const std::lock_guard lock(mutex_);
    return task_ == task;
  }
  /// Returns the result once; nothing while it is unknown.
  std::optional<Status> Take(std::uint64_t task) {
    const std::lock_guard lock(mutex_);
    if (task_ != task) return std::nullopt;
    return std::exchange(status_, Status());
  }

 private:
  std::mutex mutex_;
  std::uint64_t task_ = 0;
  Status status_;
};

}  // namespace sampan
