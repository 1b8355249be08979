// A queue of tasks on an emulated device: a ring that programs fill and one engine at a time empties.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "backend/api/queue.h"
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
  /// Tasks that a stream holds; one more blocks its submitter.
  static constexpr std::uint64_t kDepth = 1792;
  /// Waking an engine would take longer than copying so much.
  static constexpr std::size_t kMostBytesAtOnce = 4096;

  static std::shared_ptr<EmulatedQueue> Create(QueueScheduler& scheduler, GateWatch& gates,
                                               QueueListener& listener, FaultPlan& faults);
  ~EmulatedQueue() override;

  Result<std::uint64_t> Submit(Task&& task) override;
  std::uint64_t TryExpress(std::span<const Segment> segments, AllocationUse& dst, AllocationUse& src,
                           trace::Span* traced) override;
  const std::shared_ptr<Timeline>& timeline() const override { return public_timeline_; }
  std::uint64_t submitted() const override { return tail_.load(std::memory_order_acquire); }
  void Discard() override;
  void Close() override;

  /// How a turn ended. After kBlocked the queue may already be in another thread's hands.
  enum class TurnEnd { kEmpty, kMore, kBlocked };
  /// For schedulers: executes up to `most` tasks.
  TurnEnd TakeTurn(int most) { return TakeTurn(most, Tasks::kAll); }
  /// For schedulers, after kEmpty: lets go. False when a task came in between, and the queue is still the
  /// caller's.
  bool TryLeave();
  bool HasTasks() {
    if (done_ == seen_tail_) seen_tail_ = tail_.load(std::memory_order_acquire);
    return done_ != seen_tail_;
  }
  /// Looks again at what the queue is blocked by. Safe to call at any time.
  void Unblock() noexcept;
  /// For the watch: the gate that holds the queue back may have opened.
  void GoOnAtGate();
  /// Whether the task with that value is over.
  bool PassedBy(std::uint64_t value) const { return timeline_->value() >= value; }
  /// The timeline that holds the queue back, if one does. For schedulers that run one task at a time.
  const std::shared_ptr<Timeline>& blocked_on() const { return blocked_on_; }

  std::shared_ptr<EmulatedQueue> next_ready;  ///< for the scheduler's list

 private:
  /// kIdle, kScheduled, or blocked. It becomes idle, and stops being so, only under the submit lock. Blocked
  /// states carry a ticket, so that whoever blocked the queue takes back this very blocking and not a later
  /// one.
  static constexpr std::uint64_t kIdle = 0, kScheduled = 1, kFirstTicket = 2;
  static constexpr std::uint64_t kSlots = 2048;
  static_assert((kSlots & (kSlots - 1)) == 0 && kSlots >= kDepth);

  EmulatedQueue(QueueScheduler& scheduler, GateWatch& gates, QueueListener& listener, FaultPlan& faults);

  /// Those that take no longer than a hand-over, or everything.
  enum class Tasks { kShort, kAll };
  TurnEnd TakeTurn(int most, Tasks tasks);
  /// Makes a blocked queue the caller's; false when it is not blocked.
  bool TakeFromBlocked() noexcept;

  /// Executes a short task on the calling thread if nothing is before it, which is sooner than an engine
  /// could have heard of it. Returns its value, or 0 when the queue is busy or closed.
  std::uint64_t TryExecuteAtOnce(Task& task);
  /// Under the submit lock, with nothing queued: accounts for a task that is over.
  void PassAtOnce(std::uint64_t value);
  /// Puts the task into the ring; the value is 0 when the queue is full. `first` says that the queue was idle
  /// and is now to be made ready. Fails once the queue is closed.
  Result<std::uint64_t> TryAppend(Task& task, bool& first);
  void WaitForRoom();
  /// Notes since when the task is at the head.
  void TraceHead(const Task& task, std::uint64_t value);
  /// Whether the task at the head is over. False: it blocks the queue, which is no longer the caller's.
  bool ExecuteHead(Task& task, std::uint64_t value);
  bool ExecuteWait(WaitTask& task, std::uint64_t value);
  bool ExecuteGate(GateTask& task, std::uint64_t value);
  bool ExecuteHost(HostTask& task, std::uint64_t value);
  void OnHostDone(std::uint64_t value, Status status) noexcept;
  void Fail(std::uint64_t value, Status failure);
  bool Discarded(std::uint64_t value) const { return value <= discard_to_.load(std::memory_order_acquire); }
  /// Gives up the turn; true when it could be taken back because `over` holds already.
  template <typename Over>
  bool BlockUnless(Over over);
  Task& SlotOf(std::uint64_t value) { return slots_[value & (kSlots - 1)]; }

  QueueScheduler& scheduler_;
  GateWatch& gates_;
  QueueListener& listener_;
  FaultPlan& faults_;
  const bool short_tasks_at_once_;
  const std::shared_ptr<EmulatedTimeline> timeline_;
  const std::shared_ptr<Timeline> public_timeline_;
  Task* const slots_;  // kSlots, each constructed when a task is put there
  std::atomic<std::uint64_t> state_{kIdle};
  std::atomic<std::uint64_t> discard_to_{0};

  // Written by submitters.
  alignas(kCacheLineBytes) SpinLock submit_lock_;
  bool closed_ = false;                 // under the lock
  std::uint64_t seen_done_ = 0;         // under the lock: tasks known to be over
  std::atomic<std::uint64_t> tail_{0};  // tasks submitted

  // Belongs to whoever has the turn; means nothing while the queue is idle.
  alignas(kCacheLineBytes) std::uint64_t done_ = 0;  // tasks over
  std::uint64_t seen_tail_ = 0;                      // tasks known to be submitted
  std::uint64_t next_ticket_ = kFirstTicket;
  std::shared_ptr<Timeline> blocked_on_;
  std::uint64_t host_started_ = 0;  // the value of the host task that was started last
  std::uint64_t gate_reached_ = 0;  // the value of the gate task that stood at the head last
  Deadline gate_deadline_ = kNever;
  std::int64_t head_since_ns_ = 0;  // while there is a trace: since when the task at the head is there

  // The outcome of host work, delivered from any thread.
  std::mutex host_mutex_;
  std::uint64_t host_done_ = 0;
  Status host_status_;
};

}  // namespace sampan::emulated
