// A queue of tasks on an emulated device: a ring that programs fill and one engine at a time empties.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "backend/api/queue.h"
#include "backend/api/queue_waits.h"
#include "backend/api/task_ring.h"
#include "backend/emulated/emulated_timeline.h"
#include "backend/emulated/gate_watch.h"
#include "backend/emulated/queue_scheduler.h"
#include "base/fault.h"
#include "base/spin_lock.h"
#include "base/thread_stripe.h"

namespace sampan::emulated {

/// Thread-safe for programs. At any time at most one thread executes it: the one that a scheduler gave a
/// turn.
class EmulatedQueue final : public Queue, public std::enable_shared_from_this<EmulatedQueue> {
 public:
  static std::shared_ptr<EmulatedQueue> Create(QueueScheduler& scheduler, GateWatch& gates,
                                               const QueueOptions& options, FaultPlan& faults);
  ~EmulatedQueue() override;

  Result<std::uint64_t> Submit(Task&& task) override;
  const std::shared_ptr<Timeline>& timeline() const override { return public_timeline_; }
  std::uint64_t submitted() const override { return ring_.submitted(); }
  std::uint64_t Discard(Code reason) override;
  void PassDiscarded() override;
  void Close() override;

  /// How a turn ended. After kBlocked the queue may already be in another thread's hands.
  enum class TurnEnd { kEmpty, kMore, kBlocked };
  /// For schedulers: executes up to `most` tasks.
  TurnEnd TakeTurn(int most) { return TakeTurn(most, Tasks::kAll); }
  /// For schedulers, after kEmpty: lets go. False when a task came in between, and the queue is still the
  /// caller's.
  bool TryLeave();
  bool HasTasks() {
    if (done_ == seen_tail_) seen_tail_ = ring_.submitted();
    return done_ != seen_tail_;
  }
  /// Re-checks what blocks the queue. Safe to call at any time.
  void Unblock() noexcept;
  /// For the watch: the gate that holds the queue back may have opened.
  void GoOnAtGate();
  /// Whether the task with that value is over.
  bool PassedBy(std::uint64_t value) const { return timeline_->done() >= value; }
  /// The timeline that holds the queue back, if one does. For schedulers that run one task at a time.
  const std::shared_ptr<Timeline>& blocked_on() const { return blocked_on_; }

  std::shared_ptr<EmulatedQueue> next_ready;  ///< for the scheduler's list

 private:
  /// kIdle, kScheduled, or blocked. It becomes or stops being idle only under the submit lock. A blocked
  /// state carries a ticket, so that a thread takes back only its own blocking, not a later one.
  static constexpr std::uint64_t kIdle = 0, kScheduled = 1, kFirstTicket = 2;

  EmulatedQueue(QueueScheduler& scheduler, GateWatch& gates, const QueueOptions& options, FaultPlan& faults);

  /// Those that take no longer than a hand-over, or everything.
  enum class Tasks { kShort, kAll };
  TurnEnd TakeTurn(int most, Tasks tasks);
  /// Makes a blocked queue the caller's; false when it is not blocked.
  bool TakeFromBlocked() noexcept;

  /// Goes on where the task was not executed at once.
  [[gnu::noinline]] Result<std::uint64_t> SubmitInFull(Task& task);
  // With the submit lock, for both.
  /// True if the queue is idle and the task short; a gate is passed then.
  bool ExecutesAtOnce(Task& task);
  /// Executes a short task on the calling thread while the queue is idle: sooner than an engine could wake.
  /// Returns its number.
  std::uint64_t ExecuteAtOnce(Task& task);
  [[gnu::noinline]] void ExecuteTraced(Task& task, std::uint64_t value);
  /// Puts the task into the ring. Returns its number, or 0 when the queue is full.
  [[gnu::noinline]] std::uint64_t TryAppend(Task& task, bool was_idle, const races::CallStack& stack);

  [[gnu::noinline]] void WaitForRoom();
  /// Notes since when the task is at the head.
  void TraceHead(const Task& task, std::uint64_t value);
  /// Whether the task at the head is over. False: it blocks the queue, which is no longer the caller's.
  bool ExecuteHead(Task& task, std::uint64_t value);
  bool ExecuteWait(WaitTask& task, std::uint64_t value);
  bool ExecuteGate(GateTask& task, std::uint64_t value);
  std::optional<Status> TryPass(Gate& gate, std::chrono::nanoseconds limit);
  bool ExecuteHost(HostTask& task, std::uint64_t value);
  [[gnu::noinline]] void Fail(std::uint64_t value, Status failure);
  bool Discarded(std::uint64_t value) const { return discarded_.Covers(value); }
  /// Gives up the turn; true when it could be taken back because `over` holds already.
  template <typename Over>
  bool BlockUnless(Over over);

  QueueScheduler& scheduler_;
  GateWatch& gates_;
  QueueListener& listener_;
  FaultPlan& faults_;
  const bool short_tasks_at_once_;
  const std::shared_ptr<EmulatedTimeline> timeline_;
  const std::shared_ptr<Timeline> public_timeline_;
  std::atomic<std::uint64_t> state_{kIdle};
  DiscardMark discarded_;

  // Written by submitters.
  alignas(kCacheLineBytes) SpinLock submit_lock_;
  bool closed_ = false;          // under the lock
  std::uint64_t seen_done_ = 0;  // under the lock: tasks known to be over
  TaskRing ring_;                // under the lock, to put tasks in

  // Belongs to the thread that has the turn; means nothing while the queue is idle.
  alignas(kCacheLineBytes) std::uint64_t done_ = 0;  // tasks over
  std::uint64_t seen_tail_ = 0;                      // tasks known to be submitted
  std::uint64_t next_ticket_ = kFirstTicket;
  std::shared_ptr<Timeline> blocked_on_;
  std::uint64_t host_started_ = 0;  // the value of the host task that was started last
  StandingWait standing_;
  std::int64_t head_since_ns_ = 0;  // while there is a trace: since when the task at the head is there

  HostOutcome host_outcome_;
};

}  // namespace sampan::emulated
