// A queue of tasks on a GPU: how they come in and go to the driver.
#include "backend/cuda/cuda_queue.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/ticks.h"

namespace sampan::cuda {
Result<std::shared_ptr<CudaQueue>> CudaQueue::Create(const LaunchSite& site, QueueListener& listener,
                                                     HoldWatch& watch, FaultPlan& faults) {
  if (site.gpu.lost()) return site.gpu.LostStatus();
  auto launcher = TaskLauncher::Create(site);
  if (!launcher.ok()) return launcher.TakeStatus();
  std::shared_ptr<CudaQueue> queue(new CudaQueue(std::move(*launcher), listener, watch, faults));
  queue->timeline_->queue_ = queue;
  if (trace::On()) site.gpu.StartClock(queue->launcher_->stream());
  return queue;
}

CudaQueue::CudaQueue(std::unique_ptr<TaskLauncher> launcher, QueueListener& listener, HoldWatch& watch,
                     FaultPlan& faults)
    : gpu_(launcher->gpu()),
      launcher_(std::move(launcher)),
      listener_(listener),
      watch_(watch),
      faults_(faults),
      timeline_(std::make_shared<CudaTimeline>()),
      public_timeline_(timeline_),
      slots_(static_cast<Task*>(::operator new(kSlots * sizeof(Task)))) {
  gpu_.open_queues().fetch_add(1);
  express = {.segments = SIZE_MAX, .bytes = SIZE_MAX};
}

CudaQueue::~CudaQueue() {
  if (!closed_) Close();
  ::operator delete(slots_);
}

Result<std::uint64_t> CudaQueue::Submit(Task&& task) {
  if (faults_.ShouldFail(FaultKind::kQueue)) {
    return Error{Code::kResourceAllocFail, "the task could not be queued: failure ordered by SAMPAN_FAULT"};
  }
  Lock lock(mutex_);
  for (;;) {
    if (closed_) return Error{Code::kInvalidHandle, "the stream was destroyed at the same time"};
    if (gpu_.lost()) {
      Lose(lock);
      return gpu_.LostStatus();
    }
    if (tail_.load(std::memory_order_relaxed) - done() < kDepth) break;
    const trace::HostWait traced(summary::WaitReason::kQueueFull, label);
    WaitUntilDone(lock, tail_.load(std::memory_order_relaxed) - kDepth + 1, kNever);
  }
  const std::uint64_t value = tail_.load(std::memory_order_relaxed) + 1;
  std::construct_at(&SlotOf(value), std::move(task));
  tail_.store(value, std::memory_order_release);
  if (!handing_ && held_ == Held::kNo) HandOver(lock);
  return value;
}

void CudaQueue::HandOver(Lock& lock) {
  handing_ = true;
  while (handed_ < tail_.load(std::memory_order_relaxed)) {
    const std::uint64_t value = handed_ + 1;
    if (held_ == Held::kNo && trace_.on()) trace_.Begin(value);
    if (held_ == Held::kNo && !Discarded(value)) HandOverHead(lock, SlotOf(value), value);
    if (held_ != Held::kNo) {
      look_again_ = false;
      const bool over = HoldIsOver(lock);
      if (!over && look_again_) continue;
      if (!over) break;
      held_ = Held::kNo;
      if (trace_.on()) trace_.Passed(value);
    }
    if (trace_.on() && Discarded(value)) trace_.Dropped(value);
    handed_ = std::max(handed_, value);  // a lost GPU has passed over everything meanwhile
    if (!waiters_.empty()) WakeWaiters();
  }
  handing_ = false;
  if (waiting_threads_ != 0) changed_.notify_all();
}

void CudaQueue::GoOn(Lock& lock) {
  look_again_ = true;
  if (!handing_) HandOver(lock);
}

void CudaQueue::HandOverHead(Lock& lock, Task& task, std::uint64_t value) {
  if (std::holds_alternative<WaitTask>(task)) {
    held_ = Held::kByWait;
    return;
  }
  if (std::holds_alternative<GateTask>(task)) {
    held_ = Held::kByGate;
    return;
  }
  if (std::holds_alternative<EffectTask>(task)) {
    held_ = Held::kByEffect;
    return;
  }
  if (auto* host = std::get_if<HostTask>(&task)) return StartHost(lock, *host, value);
  Status status;
  if (auto* mark = std::get_if<MarkTask>(&task)) {
    const ContextScope scope(gpu_);
    auto event = gpu_.TakeEvent();
    status = event.ok() ? gpu_.Check(gpu_.driver().EventRecord((*event)->get(), launcher_->stream()),
                                     "cuEventRecord")
                        : event.TakeStatus();
    if (status.ok()) {
      markers_.push_back({value, std::move(*event), mark->mark});
      last_marker_ = value;
    }
  } else {
    // The task is gone when the GPU was lost meanwhile; it counts as discarded then.
    for (std::uint64_t busy = 0; !Discarded(value) && (busy = launcher_->BusyUntil(task)) != 0;)
      WaitUntilDone(lock, busy, kNever);
    if (!Discarded(value)) status = launcher_->Launch(task, value);
    if (trace_.on()) trace_.Handed(value);
    return AfterLaunch(lock, value, std::move(status));
  }
  if (status.ok()) return;
  if (gpu_.lost()) return Lose(lock);
  Fail(lock, value, std::move(status));
}

void CudaQueue::AfterLaunch(Lock& lock, std::uint64_t value, Status launched) {
  if (launched.ok() && MarkerIsDue(value)) {
    const ContextScope scope(gpu_);
    handed_ = value;
    launched = RecordMarker(nullptr);
  }
  if (launched.ok()) return;
  if (gpu_.lost()) return Lose(lock);
  Fail(lock, value, std::move(launched));
}

std::uint64_t CudaQueue::TryExpress(std::span<const Segment> segments, AllocationUse& dst, AllocationUse& src,
                                    trace::Span* traced) {
  if (faults_.Armed(FaultKind::kQueue) || trace_.on() || traced != nullptr) return 0;
  Lock lock(mutex_);
  const std::uint64_t value = tail_.load(std::memory_order_relaxed) + 1;
  if (closed_ || gpu_.lost() || handing_ || held_ != Held::kNo || value - retired_ > kDepth) [[unlikely]]
    return 0;
  // To the driver first: the rest happens while the GPU is at it.
  Status launched = launcher_->LaunchExpress(segments, dst, src, value);
  express_ticks_ = ProcessorTicks();
  // The slot keeps the memory; which bytes of it are copied is the driver's business.
  std::construct_at(&SlotOf(value), std::in_place_type<CopyTask>,
                    CopyTask{segments.front(), std::move(dst), std::move(src)});
  tail_.store(value, std::memory_order_release);
  __builtin_prefetch(&SlotOf(value + 1), 1);
  if (launched.ok() && !IntervalIsOver(value)) [[likely]] {
    handed_ = value;           // nobody can have waited for it yet
    lock.release()->unlock();  // in line, which the lock's destructor is not
    return value;
  }
  handing_ = true;
  AfterLaunch(lock, value, std::move(launched));
  handing_ = false;
  handed_ = std::max(handed_, value);
  if (handed_ < tail_.load(std::memory_order_relaxed))
    HandOver(lock);  // others came while a failure was told
  if (waiting_threads_ != 0) changed_.notify_all();
  return value;
}

Status CudaQueue::RecordMarker(std::shared_ptr<Mark> mark) {
  auto event = gpu_.TakeEvent();
  if (!event.ok()) return event.TakeStatus();
  if (Status recorded =
          gpu_.Check(gpu_.driver().EventRecord((*event)->get(), launcher_->stream()), "cuEventRecord");
      !recorded.ok()) {
    return recorded;
  }
  markers_.push_back({handed_, std::move(*event), std::move(mark)});
  last_marker_ = handed_;
  return {};
}

const CudaQueue::Marker* CudaQueue::MarkerFor(std::uint64_t value) const {
  const auto found =
      std::lower_bound(markers_.begin(), markers_.end(), value,
                       [](const Marker& marker, std::uint64_t wanted) { return marker.value < wanted; });
  return found == markers_.end() ? nullptr : &*found;
}

void CudaQueue::WakeWaiters() {
  std::erase_if(waiters_, [&](Waiter& waiter) {
    if (waiter.value > handed_) return false;
    watch_.Wake(std::move(waiter.queue));
    return true;
  });
}

void CudaQueue::Continue() {
  Lock lock(mutex_);
  if (gpu_.lost()) return Lose(lock);
  if (held_ != Held::kNo) GoOn(lock);
}

void CudaQueue::Fail(Lock& lock, std::uint64_t value, Status failure) {
  if (trace_.on()) trace_.Failed(value, failure.code());
  lock.unlock();
  const bool drop_rest = listener_.OnTaskFailed(value, std::move(failure));
  lock.lock();
  if (drop_rest) discard_to_.store(tail_.load(), std::memory_order_release);
}

void CudaQueue::Discard() {
  Lock lock(mutex_);
  discard_to_.store(tail_.load(), std::memory_order_release);
  GoOn(lock);
}

void CudaQueue::Close() {
  {
    Lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
  }
  Discard();
  // What it has of the context goes now: whoever shares the queue may keep it for long.
  std::unique_ptr<TaskLauncher> launcher;
  {
    Lock lock(mutex_);
    WaitUntilDone(lock, tail_.load(), kNever);
    while (handing_ || retiring_ || unlocked_threads_ != 0)
      WaitForChange(lock, kNever);
    markers_.clear();
    launcher = std::move(launcher_);
  }
  launcher.reset();
  gpu_.open_queues().fetch_sub(1);
}

}  // namespace sampan::cuda
