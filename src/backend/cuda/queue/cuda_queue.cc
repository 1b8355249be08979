// A queue of tasks on a GPU: submission and hand-over to the driver.
#include "backend/cuda/queue/cuda_queue.h"

#include <algorithm>
#include <utility>

#include "base/error/assert.h"
#include "base/threads/threads.h"
#include "base/time/ticks.h"

namespace sampan::cuda {
Result<std::shared_ptr<CudaQueue>> CudaQueue::Create(const LaunchSite& site, const QueueOptions& options,
                                                     HoldWatch& watch, FaultPlan& faults) {
  if (site.gpu.lost()) return site.gpu.LostStatus();
  auto launcher = TaskLauncher::Create(site);
  if (!launcher.ok()) return launcher.TakeStatus();
  std::shared_ptr<CudaQueue> queue(new CudaQueue(std::move(*launcher), options, watch, faults));
  queue->timeline_->set_queue(queue);
  if (observe::On()) site.gpu.StartClock(queue->launcher_->stream());
  return queue;
}

CudaQueue::CudaQueue(std::unique_ptr<TaskLauncher> launcher, const QueueOptions& options, HoldWatch& watch,
                     FaultPlan& faults)
    : Queue(options.label),
      gpu_(launcher->gpu()),
      launcher_(std::move(launcher)),
      listener_(options.listener),
      watch_(watch),
      faults_(faults),
      timeline_(std::make_shared<CudaTimeline>()),
      public_timeline_(timeline_),
      ring_(options.depth) {
  gpu_.open_queues().fetch_add(1);
}

CudaQueue::~CudaQueue() {
  if (!closed_) Close();
}

Result<std::uint64_t> CudaQueue::Submit(Task& task, std::uint64_t earlier) {
  if (faults_.ShouldFail(FaultKind::kQueue)) [[unlikely]]
    return OrderedFailure("the task could not be queued");
  Lock lock(mutex_);
  if (closed_ || gpu_.lost() || ring_.IsFull(retired_)) [[unlikely]] {
    if (Status room = AwaitRoom(lock); !room.ok()) return room;
  }
  if (earlier != 0 && Discarded(earlier)) [[unlikely]]
    return std::uint64_t{0};
  const std::uint64_t number = ring_.Put(std::move(task));
  if (!handing_ && held_ == Held::kNo) HandOver(lock);
  ring_.PrefetchToWrite(number + 1);
  lock.release()->unlock();  // in line, which the lock's destructor is not
  return number;
}

Status CudaQueue::AwaitRoom(Lock& lock) {
  const NoCancellation no_cancellation;
  for (;;) {
    if (closed_) return IsClosed();
    if (gpu_.lost()) {
      Lose(lock);
      return gpu_.LostStatus();
    }
    if (!ring_.IsFull(retired_)) return {};
    const observe::HostWait wait(observe::WaitReason::kQueueFull, label());
    WaitUntilDone(lock, ring_.tail() - ring_.depth() + 1, kNever);
  }
}

void CudaQueue::HandOver(Lock& lock) {
  SAMPAN_ASSERT(lock.owns_lock() && !handing_);
  handing_ = true;
  while (handed_ < ring_.tail()) {
    const std::uint64_t number = handed_ + 1;
    if (discarded_.Holds(number)) break;
    if (held_ == Held::kNo && DependsOnOutcome(number)) [[unlikely]]
      held_ = Held::kByOutcome;
    if (held_ == Held::kNo && observed_.on()) observed_.Begin(number);
    if (held_ == Held::kNo) {
      if (Discarded(number)) {
        discarded_.Tell(ring_.At(number));
      } else {
        Task& task = ring_.At(number);
        dropped_input_.Tell(number, task);
        if (std::holds_alternative<CopyTask>(task) || IsToLaunch(lock, task, number)) {
          Status launched = launcher_->Launch(task, number);
          launched_ticks_ = ProcessorTicks();
          if (observed_.on()) observed_.Handed(number);
          if (!launched.ok() || MarkerIsDue(number)) AfterLaunch(lock, number, std::move(launched));
        }
      }
    }
    if (held_ != Held::kNo) {
      look_again_ = false;
      const bool at_the_task = held_ != Held::kByOutcome;
      const bool over = HoldIsOver(lock);
      if (!over && look_again_) continue;
      if (!over) break;
      held_ = Held::kNo;
      if (!at_the_task) continue;
      if (observed_.on()) observed_.Passed(number);
    }
    if (observed_.on() && Discarded(number)) observed_.Dropped(number);
    handed_ = std::max(handed_, number);  // a lost GPU has passed over everything meanwhile
    if (!waiters_.empty()) WakeWaiters();
  }
  handing_ = false;
  if (waiting_threads_ != 0) changed_.notify_all();
}

void CudaQueue::GoOn(Lock& lock) {
  SAMPAN_ASSERT(lock.owns_lock());
  look_again_ = true;
  if (!handing_) HandOver(lock);
}

bool CudaQueue::IsToLaunch(Lock& lock, Task& task, std::uint64_t number) {
  SAMPAN_ASSERT(lock.owns_lock() && handing_ && held_ == Held::kNo && number == handed_ + 1);
  held_ = HeldBy(task);
  if (held_ != Held::kNo) return false;
  if (auto* host = std::get_if<HostTask>(&task)) {
    StartHost(lock, *host, number);
    return false;
  }
  if (auto* mark = std::get_if<MarkTask>(&task)) {
    HandOverMark(lock, *mark, number);
    return false;
  }
  if (launcher_->CanFailOnDevice(task)) last_fallible_ = number;
  // The task is gone when the GPU was lost meanwhile; it counts as discarded then.
  for (std::uint64_t busy = 0; !Discarded(number) && (busy = launcher_->BusyUntil(task)) != 0;)
    WaitUntilDone(lock, busy, kNever);
  return !Discarded(number);
}

CudaQueue::Held CudaQueue::HeldBy(const Task& task) {
  if (std::holds_alternative<WaitTask>(task)) return Held::kByWait;
  if (std::holds_alternative<GateTask>(task)) return Held::kByGate;
  if (std::holds_alternative<EffectTask>(task)) return Held::kByEffect;
  return Held::kNo;
}

void CudaQueue::HandOverMark(Lock& lock, const MarkTask& task, std::uint64_t number) {
  const ContextScope scope(gpu_);
  handed_ = number;
  Status recorded = RecordMarker(task.mark);
  if (recorded.ok()) return;
  if (gpu_.lost()) return Lose(lock);
  Fail(lock, number, std::move(recorded));
}

void CudaQueue::AfterLaunch(Lock& lock, std::uint64_t number, Status launched) {
  const NoCancellation no_cancellation;
  if (launched.ok() && MarkerIsDue(number)) {
    const ContextScope scope(gpu_);
    handed_ = number;
    launched = RecordMarker(nullptr);
  }
  if (launched.ok()) return;
  if (gpu_.lost()) return Lose(lock);
  Fail(lock, number, std::move(launched));
}

Status CudaQueue::RecordMarker(std::shared_ptr<Mark> mark) {
  SAMPAN_ASSERT(mutex_.is_held());
  SAMPAN_ASSERT(markers_.empty() || markers_.back().number <= handed_);  // in the order of their numbers
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

const CudaQueue::Marker* CudaQueue::MarkerFor(std::uint64_t number) const {
  SAMPAN_ASSERT(mutex_.is_held());
  const auto found =
      std::lower_bound(markers_.begin(), markers_.end(), number,
                       [](const Marker& marker, std::uint64_t wanted) { return marker.number < wanted; });
  return found == markers_.end() ? nullptr : &*found;
}

void CudaQueue::WakeWaiters() {
  SAMPAN_ASSERT(mutex_.is_held());
  std::erase_if(waiters_, [&](Waiter& waiter) {
    if (waiter.number > handed_) return false;
    watch_.Wake(std::move(waiter.queue));
    return true;
  });
}

void CudaQueue::Continue() {
  Lock lock(mutex_);
  if (gpu_.lost()) return Lose(lock);
  if (held_ != Held::kNo) GoOn(lock);
}

void CudaQueue::Fail(Lock& lock, std::uint64_t number, Status failure) {
  SAMPAN_ASSERT(lock.owns_lock() && !failure.ok());
  if (observed_.on()) observed_.Failed(number, failure.code());
  const Code code = failure.code();
  lock.unlock();
  const bool drop_rest = listener_.OnTaskFailed(number, std::move(failure));
  lock.lock();
  if (!drop_rest) return;
  discarded_.Raise(ring_.tail(), code);
  discarded_.Release();
}

void CudaQueue::FinishWait(Lock& lock, std::uint64_t number, Status outcome) {
  if (outcome.ok()) return;
  dropped_input_.Begin(number, outcome.code());
  Fail(lock, number, std::move(outcome));
}

std::uint64_t CudaQueue::Discard(Code reason) {
  const std::lock_guard lock(mutex_);
  discarded_.Raise(ring_.tail(), reason);
  dropped_input_.EndBehind(ring_.tail(), ring_.tail());
  return ring_.tail();
}

void CudaQueue::PassDiscarded() {
  Lock lock(mutex_);
  discarded_.Release();
  GoOn(lock);
}

void CudaQueue::Close() {
  {
    Lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
  }
  Discard(Code::kStreamAbort);
  PassDiscarded();
  // Releases the uses of the context now, because others may share the queue for long.
  std::unique_ptr<TaskLauncher> launcher;
  {
    Lock lock(mutex_);
    WaitUntilDone(lock, ring_.tail(), kNever);
    while (handing_ || retiring_ || unlocked_threads_ != 0)
      WaitForChange(lock, kNever);
    SAMPAN_ASSERT(retired_ == ring_.tail());
    markers_.clear();
    launcher = std::move(launcher_);
  }
  launcher.reset();
  gpu_.open_queues().fetch_sub(1);
}

}  // namespace sampan::cuda
