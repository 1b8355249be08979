// A queue of tasks on a GPU: a CUDA stream, and the tasks that may not go to it yet.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backend/api/queue.h"
#include "backend/cuda/gpu.h"
#include "backend/cuda/hold_watch.h"
#include "backend/cuda/queue_trace.h"
#include "backend/cuda/task_launch.h"
#include "base/fault.h"
#include "base/parking_lock.h"
#include "base/thread_stripe.h"

namespace sampan::cuda {

class CudaQueue;

/// The progress of one queue. Thread-safe; may outlive its queue, whose tasks are all over then.
class CudaTimeline final : public Timeline {
 public:
  bool Reached(std::uint64_t value) override;
  bool Wait(std::uint64_t value, Deadline deadline) override;

  std::uint64_t done() const { return done_.load(std::memory_order_acquire); }
  std::shared_ptr<CudaQueue> queue() const { return queue_.lock(); }

 private:
  friend class CudaQueue;
  std::atomic<std::uint64_t> done_{0};
  std::weak_ptr<CudaQueue> queue_;  // set once, right after both were made
};

/// Thread-safe. Tasks go to the driver on the submitting thread. While host work runs, or a wait is not yet
/// something that the GPU can wait for itself, the queue is held: later tasks stay in the ring, where they
/// can still be dropped and still notice that their memory was freed. What the driver has been given cannot
/// be taken back.
class CudaQueue final : public Queue, public std::enable_shared_from_this<CudaQueue> {
 public:
  /// Tasks that a stream holds; one more blocks its submitter.
  static constexpr std::uint64_t kDepth = 1792;

  static Result<std::shared_ptr<CudaQueue>> Create(const LaunchSite& site, QueueListener& listener,
                                                   HoldWatch& watch, FaultPlan& faults);
  ~CudaQueue() override;

  Result<std::uint64_t> Submit(Task&& task) override;
  std::uint64_t TryExpress(std::span<const Segment> segments, AllocationUse& dst, AllocationUse& src,
                           trace::Span* traced) override;
  const std::shared_ptr<Timeline>& timeline() const override { return public_timeline_; }
  std::uint64_t submitted() const override { return tail_.load(std::memory_order_acquire); }
  void Discard() override;
  void Close() override;

  /// For the watch: goes on if the reason to be held is over.
  void Continue();
  /// Notices what is over, without waiting.
  void Sweep();

 private:
  friend class CudaTimeline;
  static constexpr std::uint64_t kSlots = kMostTasks;
  static_assert((kSlots & (kSlots - 1)) == 0 && kSlots >= kDepth);
  using Lock = std::unique_lock<ParkingLock>;

  /// An event behind the task of that value; with a mark when it is that of a MarkTask.
  struct Marker {
    std::uint64_t value;
    std::shared_ptr<GpuEvent> event;
    std::shared_ptr<Mark> mark;
  };
  /// Another queue that waits for a value which this one has not given to the driver yet.
  struct Waiter {
    std::uint64_t value;
    std::weak_ptr<CudaQueue> queue;
  };
  enum class Held { kNo, kByHost, kByWait, kByGate, kByEffect };

  CudaQueue(std::unique_ptr<TaskLauncher> launcher, QueueListener& listener, HoldWatch& watch,
            FaultPlan& faults);

  // Everything below with the lock; where a Lock is passed it may be let go meanwhile.
  /// Gives the driver what may go to it. One thread at a time does.
  void HandOver(Lock& lock);
  void HandOverHead(Lock& lock, Task& task, std::uint64_t value);
  /// A marker after so many tasks lets a full queue see its progress; a trace wants the end of each.
  static constexpr std::uint64_t kMarkerInterval = 256;
  bool IntervalIsOver(std::uint64_t value) const {
    return value - std::max(last_marker_, retired_) >= kMarkerInterval;
  }
  bool MarkerIsDue(std::uint64_t value) const { return IntervalIsOver(value) || trace_.on(); }
  /// What follows a launch that failed, or one that a marker is due behind.
  void AfterLaunch(Lock& lock, std::uint64_t value, Status launched);
  void StartHost(Lock& lock, HostTask& task, std::uint64_t value);
  /// Whether the reason to be held is over; a failure of it is reported.
  bool HoldIsOver(Lock& lock);
  bool HostIsOver(Lock& lock, std::uint64_t value);
  bool WaitIsOver(Lock& lock, std::uint64_t value);
  bool GateIsOver(Lock& lock, std::uint64_t value);
  bool EffectIsOver(Lock& lock, std::uint64_t value);
  /// Whether everything before the task that holds the queue is over; otherwise looks again soon.
  bool StandsBefore(Lock& lock, std::uint64_t value);
  /// Goes on, or has the thread that is at it look again.
  void GoOn(Lock& lock);
  bool Discarded(std::uint64_t value) const { return value <= discard_to_.load(std::memory_order_acquire); }
  void Fail(Lock& lock, std::uint64_t value, Status failure);
  Status RecordMarker(std::shared_ptr<Mark> mark);
  /// Notices what is over. False when that cannot be known without waiting.
  void Refresh(Lock& lock, std::uint64_t wanted);
  /// Tasks up to the value are over.
  void Retire(Lock& lock, std::uint64_t value);
  void Lose(Lock& lock);
  /// The GPU's outcome of waiting for tasks up to the value.
  void Finish(Lock& lock, CuResult result, std::uint64_t value);
  /// Calls it without the lock; the launcher stays meanwhile.
  template <typename Call>
  auto Unlocked(Lock& lock, Call call);
  /// False when the deadline was over first.
  bool WaitForChange(Lock& lock, Deadline deadline);
  bool WaitUntilDone(Lock& lock, std::uint64_t value, Deadline deadline);
  /// False right after a copy went to the driver.
  bool CanBeOver() const;
  /// Waits a short while for a sign by the GPU that the value, which the driver has, is over.
  void LookForSign(Lock& lock, std::uint64_t value, Deadline deadline);
  /// The first marker at or behind the value; null when there is none.
  const Marker* MarkerFor(std::uint64_t value) const;
  void WakeWaiters();

  // Without the lock.
  enum class Order { kReached, kByEvent, kNotYet };
  /// How another queue can wait for the value. kNotYet: it is woken when that changes.
  Order OrderBehind(std::uint64_t value, const std::weak_ptr<CudaQueue>& waiter,
                    std::shared_ptr<GpuEvent>* event);
  static void RunHostTask(void* call);
  void OnHostDone(std::uint64_t value, Status status) noexcept;
  std::uint64_t done() const { return timeline_->done(); }
  Task& SlotOf(std::uint64_t value) { return slots_[value & (kSlots - 1)]; }

  Gpu& gpu_;
  std::unique_ptr<TaskLauncher> launcher_;  // until it is closed
  QueueListener& listener_;
  HoldWatch& watch_;
  FaultPlan& faults_;
  const std::shared_ptr<CudaTimeline> timeline_;
  const std::shared_ptr<Timeline> public_timeline_;

  // What every copy touches, in one line of the cache: the driver has taken most others.
  alignas(kCacheLineBytes) ParkingLock mutex_;
  bool closed_ = false;
  bool handing_ = false;                // a thread is in HandOver
  bool look_again_ = false;             // it is to look at the reason to be held once more
  bool retiring_ = false;               // a thread is in Retire
  Held held_ = Held::kNo;               // by the task behind handed_
  int waiting_threads_ = 0;             // for changed_
  Task* const slots_;                   // kSlots, each constructed when a task is put there
  std::atomic<std::uint64_t> tail_{0};  // tasks submitted
  std::uint64_t handed_ = 0;            // tasks given to the driver, or passed over
  std::uint64_t retired_ = 0;           // tasks over, though perhaps not yet told
  std::uint64_t last_marker_ = 0;       // the value of the newest there was
  std::uint64_t express_ticks_ = 0;     // when a copy went to the driver by TryExpress

  QueueTrace trace_{kSlots};
  std::condition_variable_any changed_;
  std::atomic<std::uint64_t> discard_to_{0};  // tasks up to here are dropped
  int unlocked_threads_ = 0;                  // that use the launcher without the lock
  std::uint64_t gate_reached_ = 0;            // the gate that the queue stands before, or stood before last
  Deadline gate_deadline_ = kNever, gate_check_ = kNever, gate_since_ = kNever;
  std::uint64_t standing_ = 0;  // the gate or effect that waits, or waited last, for what is before it
  Deadline standing_since_ = kNever;
  std::deque<Marker> markers_;
  std::vector<Waiter> waiters_;
  bool host_in_driver_ = false;  // the host task that holds the queue waits for the stream

  // The outcome of host work, delivered from any thread.
  std::mutex host_mutex_;
  std::uint64_t host_done_ = 0;
  Status host_status_;
};

}  // namespace sampan::cuda
