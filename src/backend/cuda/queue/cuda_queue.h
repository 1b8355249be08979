// A queue of tasks on a GPU: a CUDA stream, and the tasks that may not go to it yet.
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
#include "backend/cuda/queue/queue_trace.h"
#include "backend/cuda/queue/task_launch.h"
#include "base/fault.h"
#include "base/parking_lock.h"
#include "base/thread_stripe.h"

namespace sampan::cuda {

class CudaQueue;

/// The progress of one queue. Thread-safe; may outlive its queue, whose tasks are all over then.
class CudaTimeline final : public QueueTimeline<CudaQueue> {
 public:
  bool Reached(std::uint64_t value) override;
  bool PassedByNow(std::uint64_t value) override;
  bool Wait(std::uint64_t value, Deadline deadline) override;
  std::string Describe() const override;

 private:
  friend class CudaQueue;
};

/// Thread-safe. Tasks go to the driver on the submitting thread. The queue is held while host work runs, or
/// while it waits for what the GPU cannot wait for. Later tasks then stay in the ring: they can still be
/// dropped, and still notice that their memory was freed. What the driver has been given cannot be taken
/// back.
class CudaQueue final : public Queue, public std::enable_shared_from_this<CudaQueue> {
 public:
  static Result<std::shared_ptr<CudaQueue>> Create(const LaunchSite& site, const QueueOptions& options,
                                                   HoldWatch& watch, FaultPlan& faults);
  ~CudaQueue() override;

  Result<std::uint64_t> Submit(Task&& task) override;
  const std::shared_ptr<Timeline>& timeline() const override { return public_timeline_; }
  std::uint64_t submitted() const override { return ring_.submitted(); }
  std::uint64_t Discard(Code reason) override;
  void PassDiscarded() override;
  void Close() override;
  bool Inspect(const std::function<void(std::uint64_t, const Task&)>& look) override;

  /// For the watch: goes on if the reason to be held is over.
  void Continue();
  /// Notices what is over, without waiting.
  void Sweep();

 private:
  friend class CudaTimeline;
  static_assert(kMaxTasks >= TaskRing::kSlots);
  using Lock = std::unique_lock<ParkingLock>;

  /// An event behind the task of that value; with a mark when it is that of a MarkTask.
  struct Marker {
    std::uint64_t value;
    std::shared_ptr<GpuEvent> event;
    std::shared_ptr<Mark> mark;
  };
  /// Another queue that waits for a task which this queue has not handed to the driver yet.
  struct Waiter {
    std::uint64_t value;
    std::weak_ptr<CudaQueue> queue;
  };
  enum class Held { kNo, kByHost, kByWait, kByGate, kByEffect };

  CudaQueue(std::unique_ptr<TaskLauncher> launcher, const QueueOptions& options, HoldWatch& watch,
            FaultPlan& faults);

  // Everything below needs the lock. A function that takes a Lock may release it meanwhile.
  /// Until a task can be put in; fails when the queue is closed or the GPU lost.
  Status AwaitRoom(Lock& lock);
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
  /// What holds a queue at a task of this kind.
  static Held HeldBy(const Task& task);
  void HandOverMark(Lock& lock, const MarkTask& task, std::uint64_t value);
  void StartHost(Lock& lock, HostTask& task, std::uint64_t value);
  /// Whether the reason to be held is over; a failure of it is reported.
  bool HoldIsOver(Lock& lock);
  bool HostIsOver(Lock& lock, std::uint64_t value);
  bool WaitIsOver(Lock& lock, std::uint64_t value);
  bool GateIsOver(Lock& lock, std::uint64_t value);
  bool EffectIsOver(Lock& lock, std::uint64_t value);
  /// True if all tasks before the one that holds the queue are completed. If not, the watch checks again
  /// soon.
  bool HasArrived(Lock& lock, std::uint64_t value);
  /// Continues the hand-over, or makes the thread that is doing it check again.
  void GoOn(Lock& lock);
  bool Discarded(std::uint64_t value) const { return discarded_.Covers(value); }
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
  void SpinForCompletion(Lock& lock, std::uint64_t value, Deadline deadline);
  /// The first marker at or behind the value; null when there is none.
  const Marker* MarkerFor(std::uint64_t value) const;
  void WakeWaiters();

  // Without the lock.
  enum class Order { kReached, kByEvent, kNotYet };
  /// How another queue can wait for the value. kNotYet: it is woken when that changes.
  Order OrderBehind(std::uint64_t value, const std::weak_ptr<CudaQueue>& waiter,
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

  // What every copy touches, in one line of the cache: the driver has taken most others.
  alignas(kCacheLineBytes) ParkingLock mutex_;
  bool closed_ = false;
  bool handing_ = false;     // a thread is in HandOver
  bool look_again_ = false;  // it is to look at the reason to be held once more
  bool retiring_ = false;    // a thread is in Retire
  Held held_ = Held::kNo;    // by the task behind handed_
  int waiting_threads_ = 0;  // for changed_
  TaskRing ring_;
  std::uint64_t handed_ = 0;          // tasks given to the driver, or passed over
  std::uint64_t retired_ = 0;         // tasks over, though perhaps not yet told
  std::uint64_t last_marker_ = 0;     // the value of the newest there was
  std::uint64_t launched_ticks_ = 0;  // when a task last went to the driver

  QueueTrace trace_{TaskRing::kSlots};
  std::condition_variable_any changed_;
  DiscardMark discarded_;
  int unlocked_threads_ = 0;  // that use the launcher without the lock
  StandingWait arriving_;     // at a wait, gate or effect, while tasks before it run
  StandingWait standing_;     // at a wait or gate
  Deadline gate_check_{};     // when to ask again whether a gate can open
  std::deque<Marker> markers_;
  std::vector<Waiter> waiters_;
  bool host_in_driver_ = false;  // the host task that holds the queue waits for the stream

  HostOutcome host_outcome_;
};

}  // namespace sampan::cuda
