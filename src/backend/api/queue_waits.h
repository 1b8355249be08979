// The state of the task that blocks a queue: its start, and the result of a host function.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "backend/api/gate.h"
#include "backend/api/task.h"
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

  /// Success if the gate is open, nothing while it is closed. A failure if it never opens or the time is
  /// over. `ask`: also ask whether the gate can still open, which may be expensive.
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

/// The tasks of a queue that depend on dropped work: those behind a wait that failed for it, until the
/// program is told of the failure. Thread-safe.
class DroppedInput {
 public:
  bool Covers(std::uint64_t task) const { return task <= last_.load(std::memory_order_acquire); }
  /// For a task that the queue is about to execute.
  void Tell(std::uint64_t number, Task& task) const {
    if (Covers(number)) [[unlikely]]
      NoteDropped(task, reason_.load(std::memory_order_relaxed));
  }
  /// The task waited for dropped work. Call it before the failure is reported.
  void Begin(std::uint64_t task, Code reason) {
    const std::lock_guard lock(mutex_);
    since_ = task;
    reason_.store(reason, std::memory_order_relaxed);
    last_.store(kNoEnd, std::memory_order_release);
  }
  /// The program was told of the failures up to a task. What is queued behind `last` does not depend on them.
  void EndBehind(std::uint64_t last, std::uint64_t told) {
    const std::lock_guard lock(mutex_);
    if (since_ <= told && last < last_.load(std::memory_order_relaxed))
      last_.store(last, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t kNoEnd = UINT64_MAX;

  std::mutex mutex_;
  std::uint64_t since_ = 0;             // the wait that failed last
  std::atomic<std::uint64_t> last_{0};  // the last task that depends on it
  std::atomic<Code> reason_{Code::kOk};
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
