// A queue of tasks on a GPU: a CUDA stream, and the tasks that are not launched yet.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "backend/api/queue.h"
#include "backend/api/queue_waits.h"
#include "backend/api/task_ring.h"
#include "backend/cuda/gpu.h"
#include "backend/cuda/queue/hold_watch.h"
#include "backend/cuda/queue/observed_tasks.h"
#include "backend/cuda/queue/task_launch.h"
#include "base/error/fault.h"
#include "base/threads/parking_lock.h"
#include "base/threads/thread_stripe.h"

namespace sampan::cuda {

class CudaQueue;

/// The progress of one queue. Thread-safe. May outlive its queue; all tasks are completed then.
class CudaTimeline final : public QueueTimeline<CudaQueue> {
 public:
  bool Reached(std::uint64_t number) override;
  bool PassedByNow(std::uint64_t number) override;
  bool Wait(std::uint64_t number, Deadline deadline) override;
  std::string Describe() const override;

 private:
  friend class CudaQueue;
};

/// Thread-safe. The submitting thread gives tasks to the driver. The queue is held while a host function
/// runs, or during a wait that the GPU cannot do. Later tasks then stay in the ring: they can be dropped, and
/// they fail if their memory is freed. A task that the driver has cannot be dropped.
class CudaQueue final : public Queue, public std::enable_shared_from_this<CudaQueue> {
 public:
  static Result<std::shared_ptr<CudaQueue>> Create(const LaunchSite& site, const QueueOptions& options,
                                                   HoldWatch& watch, FaultPlan& faults);
  ~CudaQueue() override;

  Result<std::uint64_t> Submit(Task& task, std::uint64_t earlier) override;
  const std::shared_ptr<Timeline>& timeline() const override { return public_timeline_; }
  std::uint64_t submitted() const override { return ring_.submitted(); }
  std::uint64_t Discard(Code reason) override;
  bool Discarded(std::uint64_t number) const override { return discarded_.Covers(number); }
  void PassDiscarded() override;
  void NoteTold(std::uint64_t failed) override { dropped_input_.EndBehind(submitted(), failed); }
  void Close() override;
  bool Inspect(const std::function<void(std::uint64_t, const Task&)>& look) override;

  /// For the watch: continues the queue if the reason for the hold is over.
  void Continue();
  /// Retires completed tasks, without waiting.
  void Sweep();

 private:
  friend class CudaTimeline;
  static_assert(kMaxTasks >= TaskRing::kSlots);
  using Lock = std::unique_lock<ParkingLock>;

  /// An event behind the task of that number; with a mark when it is that of a MarkTask.
  struct Marker {
    std::uint64_t number;
    std::shared_ptr<GpuEvent> event;
    std::shared_ptr<Mark> mark;
  };
  /// Another queue that waits for a task which this queue has not handed to the driver yet.
  struct Waiter {
    std::uint64_t number;
    std::weak_ptr<CudaQueue> queue;
  };
  /// kByOutcome: nothing behind a task that can fail on the GPU goes there before its outcome is known.
  enum class Held { kNo, kByHost, kByWait, kByGate, kByEffect, kByOutcome };

  CudaQueue(std::unique_ptr<TaskLauncher> launcher, const QueueOptions& options, HoldWatch& watch,
            FaultPlan& faults);

  // Everything below needs the lock. A function that takes a Lock may release it meanwhile.
  /// Until a task can be put in; fails when the queue is closed or the GPU lost.
  Status AwaitRoom(Lock& lock);
  /// Gives the driver the tasks that may be launched. One thread at a time.
  void HandOver(Lock& lock);
  /// For the task behind handed_, which is no linear copy: hands it over, or notes what holds the queue.
  /// True: it is left to be launched now.
  bool IsToLaunch(Lock& lock, Task& task, std::uint64_t number);
  /// A marker after so many tasks lets a full queue see its progress; an observer wants the end of each.
  static constexpr std::uint64_t kMarkerInterval = 256;
  bool IntervalIsOver(std::uint64_t number) const {
    return number - std::max(last_marker_, retired_) >= kMarkerInterval;
  }
  bool MarkerIsDue(std::uint64_t number) const { return IntervalIsOver(number) || observed_.on(); }
  /// What follows a launch that failed, or one that a marker is due behind.
  void AfterLaunch(Lock& lock, std::uint64_t number, Status launched);
  /// Returns true if a failure of a task that the GPU has would drop this one.
  bool DependsOnOutcome(std::uint64_t number) const {
    return last_fallible_ > done() && !Discarded(number) && listener_.stops_on_failure();
  }
  /// What holds a queue at a task of this kind.
  static Held HeldBy(const Task& task);
  void HandOverMark(Lock& lock, const MarkTask& task, std::uint64_t number);
  void StartHost(Lock& lock, HostTask& task, std::uint64_t number);
  /// Whether the reason to be held is over; a failure of it is reported.
  bool HoldIsOver(Lock& lock);
  bool HostIsOver(Lock& lock, std::uint64_t number);
  bool WaitIsOver(Lock& lock, std::uint64_t number);
  bool GateIsOver(Lock& lock, std::uint64_t number);
  bool EffectIsOver(Lock& lock, std::uint64_t number);
  /// True if all tasks before the one that holds the queue are completed. If not, the watch checks again
  /// soon.
  bool HasArrived(Lock& lock, std::uint64_t number);
  /// Continues the hand-over, or makes the thread that is doing it check again.
  void GoOn(Lock& lock);
  void Fail(Lock& lock, std::uint64_t number, Status failure);
  /// The task passed its wait. Fails if what it waited for depends on dropped work.
  void FinishWait(Lock& lock, std::uint64_t number, Status outcome);
  Status RecordMarker(std::shared_ptr<Mark> mark);
  /// Notices what is over. False when that cannot be known without waiting.
  void Refresh(Lock& lock, std::uint64_t wanted);
  /// Tasks up to the number are over.
  void Retire(Lock& lock, std::uint64_t number);
  void Lose(Lock& lock);
  /// The GPU's outcome of waiting for tasks up to the number.
  void Finish(Lock& lock, CuResult result, std::uint64_t number);
  /// Calls it without the lock; the launcher stays meanwhile.
  template <typename Call>
  auto Unlocked(Lock& lock, Call call);
  /// Returns false at the deadline.
  bool WaitForChange(Lock& lock, Deadline deadline);
  bool WaitUntilDone(Lock& lock, std::uint64_t number, Deadline deadline);
  /// False right after a copy went to the driver.
  bool CanBeOver() const;
  /// Waits a short while for a sign by the GPU that the task, which the driver has, is over.
  void SpinForCompletion(Lock& lock, std::uint64_t number, Deadline deadline);
  /// The first marker at or behind the number; null when there is none.
  const Marker* MarkerFor(std::uint64_t number) const;
  void WakeWaiters();

  // Call it without the lock.
  enum class Order { kReached, kByEvent, kNotYet };
  /// How another queue can wait for the task. kNotYet: it is woken when that changes.
  Order OrderBehind(std::uint64_t number, const std::weak_ptr<CudaQueue>& waiter,
                    std::shared_ptr<GpuEvent>* event);
  static void RunHostTask(void* call);
  std::uint64_t done() const { return timeline_->done(); }

  Gpu& gpu_;
  std::unique_ptr<TaskLauncher> launcher_;  // until it is closed
  QueueListener& listener_;
  HoldWatch& watch_;
  FaultPlan& faults_;
  const std::shared_ptr<CudaTimeline> timeline_;
  const std::shared_ptr<Timeline> public_timeline_;

  // What every copy accesses, in one cache line, because the driver evicts most others.
  alignas(kCacheLineBytes) ParkingLock mutex_;
  bool closed_ = false;
  bool handing_ = false;     // a thread is in HandOver
  bool look_again_ = false;  // it has to check the reason for the hold again
  bool retiring_ = false;    // a thread is in Retire
  Held held_ = Held::kNo;    // by the task behind handed_
  int waiting_threads_ = 0;  // for changed_
  TaskRing ring_;
  std::uint64_t handed_ = 0;          // tasks given to the driver, or passed over
  std::uint64_t retired_ = 0;         // tasks over, though perhaps not yet told
  std::uint64_t last_marker_ = 0;     // the number of the newest there was
  std::uint64_t launched_ticks_ = 0;  // when a task last went to the driver
  std::uint64_t last_fallible_ = 0;   // the last task that can fail on the GPU

  ObservedTasks observed_{TaskRing::kSlots};
  std::condition_variable_any changed_;
  DiscardMark discarded_;
  DroppedInput dropped_input_;
  int unlocked_threads_ = 0;  // threads that use the launcher without the lock
  StandingWait arriving_;     // at a wait, gate or effect, while tasks before it run
  StandingWait standing_;     // at a wait or gate
  Deadline gate_check_{};     // the next check whether a gate can open
  std::deque<Marker> markers_;
  std::vector<Waiter> waiters_;
  bool host_in_driver_ = false;  // the host task that holds the queue waits for the stream

  HostOutcome host_outcome_;
};

}  // namespace sampan::cuda
