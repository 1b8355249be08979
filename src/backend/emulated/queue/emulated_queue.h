// A queue of tasks on an emulated device: a ring that programs fill and one thread at a time executes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "backend/api/queue.h"
#include "backend/api/queue_waits.h"
#include "backend/api/task_ring.h"
#include "backend/emulated/queue/emulated_timeline.h"
#include "backend/emulated/queue/gate_watch.h"
#include "backend/emulated/schedule/queue_scheduler.h"
#include "base/error/fault.h"
#include "base/threads/spin_lock.h"
#include "base/threads/thread_stripe.h"

namespace sampan::emulated {

/// Thread-safe. At most one thread executes it at a time: the one with the turn.
class EmulatedQueue final : public Queue, public std::enable_shared_from_this<EmulatedQueue> {
 public:
  static std::shared_ptr<EmulatedQueue> Create(QueueScheduler& scheduler, GateWatch& gates,
                                               const QueueOptions& options, FaultPlan& faults);
  ~EmulatedQueue() override;

  Result<std::uint64_t> Submit(Task& task, std::uint64_t earlier) override;
  const std::shared_ptr<Timeline>& timeline() const override { return public_timeline_; }
  std::uint64_t submitted() const override { return ring_.submitted(); }
  bool LetsSubmittersRun() const override { return short_tasks_at_once_; }
  bool LooksIdle() const override { return state_.load(std::memory_order_acquire) == kIdle; }
  std::uint64_t Discard(Code reason) override;
  bool Discarded(std::uint64_t number) const override { return discarded_.Covers(number); }
  void PassDiscarded() override;
  void NoteTold(std::uint64_t failed) override { dropped_input_.EndBehind(submitted(), failed); }
  void Close() override;
  bool Inspect(const std::function<void(std::uint64_t, const Task&)>& look) override;

  /// How a turn ended. After kBlocked, another thread may already have the turn.
  enum class TurnEnd { kEmpty, kMore, kBlocked };
  /// For schedulers: executes up to `max_tasks` tasks.
  TurnEnd TakeTurn(int max_tasks) { return TakeTurn(max_tasks, Tasks::kAll); }
  /// For schedulers, after kEmpty: gives up the turn. Returns false if a task arrived meanwhile; the caller
  /// then keeps the turn.
  bool TryLeave();
  bool HasTasks() {
    if (done_ == seen_tail_) seen_tail_ = ring_.submitted();
    return done_ != seen_tail_;
  }
  /// Re-checks what blocks the queue. Safe to call at any time.
  void Unblock() noexcept;
  /// For the watch: continues the queue if its gate is open.
  void GoOnAtGate();
  /// The begun work outside the device that a waiting thread can help with; null if there is none.
  std::shared_ptr<HostWork> WorkToHelp() {
    const std::lock_guard lock(helped_lock_);
    return helped_;
  }
  /// Whether the task with that number is over.
  bool PassedBy(std::uint64_t number) const { return timeline_->done() >= number; }
  /// The timeline that holds the queue back, if one does. For schedulers that run one task at a time.
  const std::shared_ptr<Timeline>& blocked_on() const { return blocked_on_; }

  std::shared_ptr<EmulatedQueue> next_ready;  ///< for the scheduler's list

 private:
  /// kIdle, kScheduled, or blocked. It becomes or stops being idle only under the submit lock. A blocked
  /// state has a ticket, so that a thread undoes only its own blocking, not a later one. While a thread
  /// inspects the blocked queue, it is kInspected, and kInspectedOver once what blocks it is over.
  static constexpr std::uint64_t kIdle = 0, kScheduled = 1, kInspected = 2, kInspectedOver = 3,
                                 kFirstTicket = 4;

  EmulatedQueue(QueueScheduler& scheduler, GateWatch& gates, const QueueOptions& options, FaultPlan& faults);

  /// Tasks that take no longer than a hand-over, or all.
  enum class Tasks { kShort, kAll };
  TurnEnd TakeTurn(int max_tasks, Tasks tasks);
  /// Takes the turn of a blocked queue. Returns false if it is not blocked. If a thread inspects it, that
  /// thread continues it.
  bool TakeFromBlocked() noexcept;

  /// Continues Submit if the task is not executed at once.
  [[gnu::noinline]] Result<std::uint64_t> SubmitInFull(Task& task, std::uint64_t earlier);
  // With the submit lock, for both.
  /// Executes a short task on the calling thread while the queue is idle: sooner than an engine could wake.
  /// A gate is passed then. Returns the task's number, or 0 if nothing was done.
  std::uint64_t TryAtOnce(Task& task);
  template <typename Body>
  std::uint64_t ExecuteAtOnce(Task& task, Body& body);
  /// A gate was passed before.
  template <typename Body>
  void ExecuteNow(Task& task, Body& body, std::uint64_t number);
  template <typename Body>
  [[gnu::noinline]] void ExecuteObserved(Task& task, Body& body, std::uint64_t number);
  /// Puts the task into the ring. Returns its number, or 0 when the queue is full.
  [[gnu::noinline]] std::uint64_t TryAppend(Task& task, bool was_idle, const races::CallStack& stack);

  [[gnu::noinline]] void WaitForRoom();
  /// Notes since when the task is at the head.
  void ObserveHead(const Task& task, std::uint64_t number);
  /// Whether the task at the head is over. False: it blocks the queue, which is no longer the caller's.
  bool ExecuteHead(Task& task, std::uint64_t number);
  bool ExecuteWait(WaitTask& task, std::uint64_t number);
  bool ExecuteGate(GateTask& task, std::uint64_t number);
  /// Spins in front of a gate that is likely to open soon.
  void SpinAt(const Gate& gate, std::uint64_t number) const;
  std::optional<Status> TryPass(Gate& gate, std::chrono::nanoseconds limit);
  bool ExecuteHost(HostTask& task, std::uint64_t number);
  /// For the thread with the turn: the task was started and accesses memory, so it is not dropped any more.
  bool IsUnderWay(const Task& task, std::uint64_t number) const;
  /// Executes short tasks on this thread, which has the turn, and leaves the rest to the engines.
  void GoOnHere();
  void OfferHelp(std::shared_ptr<HostWork> work) {
    const std::lock_guard lock(helped_lock_);
    helped_.swap(work);
  }
  /// Whether the thread that executes a task has the submit lock.
  enum class SubmitLock { kHeld, kFree };
  [[gnu::noinline]] void Fail(std::uint64_t number, Status failure, SubmitLock lock = SubmitLock::kFree);
  /// The task passed its wait. Fails if what it waited for depends on dropped work.
  void FinishWait(std::uint64_t number, Status outcome, SubmitLock lock = SubmitLock::kFree);
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
  /// Raised with the submit lock: a submitter looks whether an earlier task was discarded.
  DiscardMark discarded_;
  DroppedInput dropped_input_;

  // Written by submitters.
  alignas(kCacheLineBytes) SpinLock submit_lock_;
  bool closed_ = false;          // under the lock
  std::uint64_t seen_done_ = 0;  // under the lock: tasks known to be over
  TaskRing ring_;                // under the lock, to put tasks in

  // Owned by the thread that has the turn. Undefined while the queue is idle.
  alignas(kCacheLineBytes) std::uint64_t done_ = 0;  // tasks over
  std::uint64_t seen_tail_ = 0;                      // tasks known to be submitted
  std::uint64_t next_ticket_ = kFirstTicket;
  std::shared_ptr<Timeline> blocked_on_;
  std::uint64_t host_started_ = 0;  // the number of the host task that was started last
  StandingWait standing_;
  std::int64_t head_since_ns_ = 0;  // while observed: since when the task at the head is there

  HostOutcome host_outcome_;
  SpinLock helped_lock_;
  std::shared_ptr<HostWork> helped_;
};

}  // namespace sampan::emulated
