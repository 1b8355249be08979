// A queue of tasks on a GPU: a CUDA stream, and the tasks that may not go to it yet.
#include "backend/cuda/cuda_queue.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "base/spin.h"
#include "base/text.h"

namespace sampan::cuda {
namespace {

/// A marker after so many tasks lets a full queue see its progress.
constexpr std::uint64_t kMarkerInterval = 256;
/// A host wait with a time limit polls: without pause for so long, then at intervals.
constexpr std::chrono::milliseconds kPollWithoutPause{2};
constexpr std::chrono::microseconds kPollInterval{50};
/// How often a wait with a time limit inside a stream is looked at.
constexpr std::chrono::microseconds kHoldInterval{100};
/// How often a queue before a gate is looked at, and how often whether the gate can still open.
constexpr std::chrono::microseconds kGateInterval{20};
constexpr std::chrono::milliseconds kGateCheckInterval{20};
/// How often the GPU is asked whether it still works while a host task waits for it.
constexpr std::chrono::milliseconds kLossInterval{10};

/// What a host task's callback is given.
struct HostCall {
  std::shared_ptr<CudaQueue> queue;
  std::shared_ptr<HostWork> work;
  std::uint64_t value;
};

}  // namespace

bool CudaTimeline::Reached(std::uint64_t value) {
  if (done() >= value) return true;
  const auto queue = this->queue();
  if (queue == nullptr) return true;
  // Whoever has the lock is about to notice himself: asking never blocks.
  CudaQueue::Lock lock(queue->mutex_, std::try_to_lock);
  if (lock.owns_lock()) queue->Refresh(lock, value);
  return done() >= value;
}

bool CudaTimeline::Wait(std::uint64_t value, Deadline deadline) {
  if (done() >= value) return true;
  const auto queue = this->queue();
  if (queue == nullptr) return true;
  CudaQueue::Lock lock(queue->mutex_);
  return queue->WaitUntilDone(lock, value, deadline);
}

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
  gpu_.users().fetch_add(1);
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
    if (status.ok()) markers_.push_back({value, std::move(*event), mark->mark});
  } else {
    while (const std::uint64_t busy = launcher_->BusyUntil(task))
      WaitUntilDone(lock, busy, kNever);
    if (!Discarded(value)) status = launcher_->Launch(task, value);
    if (trace_.on()) trace_.Handed(value);
    const std::uint64_t marked = markers_.empty() ? retired_ : markers_.back().value;
    if (status.ok() && (value - marked >= kMarkerInterval || trace_.on())) {  // a trace wants each one's end
      const ContextScope scope(gpu_);
      handed_ = value;
      status = RecordMarker(nullptr);
    }
  }
  if (status.ok()) return;
  if (gpu_.lost()) return Lose(lock);
  Fail(lock, value, std::move(status));
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

// ---- waits inside the stream ----

CudaQueue::Order CudaQueue::OrderBehind(std::uint64_t value, const std::weak_ptr<CudaQueue>& waiter,
                                        std::shared_ptr<GpuEvent>* event) {
  Lock lock(mutex_);
  if (done() >= value || gpu_.lost()) return Order::kReached;
  if (handed_ < value) {
    waiters_.push_back({value, waiter});
    return Order::kNotYet;
  }
  const Marker* marker = MarkerFor(value);
  if (marker == nullptr) {
    const ContextScope scope(gpu_);
    if (Status recorded = RecordMarker(nullptr); !recorded.ok()) {
      if (gpu_.lost()) return Order::kReached;
      watch_.WakeAt(Clock::now() + kHoldInterval, waiter);  // no event to be had now
      return Order::kNotYet;
    }
    marker = &markers_.back();
  }
  *event = marker->event;
  return Order::kByEvent;
}

bool CudaQueue::WaitIsOver(Lock& lock, std::uint64_t value) {
  // Copies: the task may be gone when the lock was let go.
  const auto awaited =
      std::dynamic_pointer_cast<CudaTimeline>(std::get<WaitTask>(SlotOf(value)).point.timeline);
  const std::uint64_t awaited_value = std::get<WaitTask>(SlotOf(value)).point.value;
  const Deadline deadline = std::get<WaitTask>(SlotOf(value)).deadline;
  if (awaited == nullptr || awaited == timeline_) return true;  // what this queue did before is behind it
  const auto other = awaited->queue();
  if (other == nullptr || awaited->done() >= awaited_value) return true;
  if (deadline != kNever) {
    if (awaited->Reached(awaited_value)) return true;
    if (Clock::now() < deadline) {
      watch_.WakeAt(std::min(deadline, Clock::now() + kHoldInterval), weak_from_this());
      return false;
    }
    Fail(lock, value, {Code::kTaskTimeout, "a wait for an event in the stream ran past its time limit"});
    return true;
  }
  std::shared_ptr<GpuEvent> event;
  lock.unlock();
  const Order order = other->OrderBehind(awaited_value, weak_from_this(), &event);
  lock.lock();
  if (order == Order::kReached || Discarded(value)) return true;
  if (order == Order::kNotYet) return false;
  const ContextScope scope(gpu_);
  Status status =
      gpu_.Check(gpu_.driver().StreamWaitEvent(launcher_->stream(), event->get(), 0), "cuStreamWaitEvent");
  if (!status.ok() && gpu_.lost()) {
    Lose(lock);
  } else if (!status.ok()) {
    Fail(lock, value, std::move(status));
  }
  return true;
}

// ---- gates and effects: the host's work, when everything before them is over ----

bool CudaQueue::StandsBefore(Lock& lock) {
  Refresh(lock, handed_);
  if (done() >= handed_) return true;
  watch_.WakeAt(Clock::now() + kGateInterval, weak_from_this());
  return false;
}

bool CudaQueue::GateIsOver(Lock& lock, std::uint64_t value) {
  // Copies: the task may be gone when the lock was let go.
  const std::shared_ptr<Gate> gate = std::get<GateTask>(SlotOf(value)).gate;
  const std::chrono::nanoseconds limit = std::get<GateTask>(SlotOf(value)).limit;
  const bool here = StandsBefore(lock);
  if (Discarded(value)) return true;
  if (!here) return false;
  const Deadline now = Clock::now();
  if (gate_reached_ != value) {
    gate_reached_ = value;
    gate_deadline_ = limit.count() == 0 ? kNever : now + limit;
    gate_check_ = now;
  }
  if (gate->TryPass()) return true;
  if (now >= gate_check_) {
    gate_check_ = now + kGateCheckInterval;
    if (Status possible = gate->Check(); !possible.ok()) {
      Fail(lock, value, std::move(possible));
      return true;
    }
  }
  if (now >= gate_deadline_) {
    Fail(lock, value, gate->TimedOut());
    return true;
  }
  watch_.WakeAt(std::min(gate_deadline_, now + kGateInterval), weak_from_this());
  return false;
}

bool CudaQueue::EffectIsOver(Lock& lock, std::uint64_t value) {
  const std::shared_ptr<Effect> effect = std::get<EffectTask>(SlotOf(value)).effect;
  const bool here = StandsBefore(lock);
  if (Discarded(value)) return true;
  if (!here) return false;
  lock.unlock();  // it may free memory, which the driver is told
  Status applied = effect->Apply();
  lock.lock();
  if (!applied.ok() && !Discarded(value)) Fail(lock, value, std::move(applied));
  return true;
}

// ---- host work ----

void CudaQueue::StartHost(Lock& lock, HostTask& task, std::uint64_t value) {
  auto call = std::make_unique<HostCall>(HostCall{shared_from_this(), task.work, value});
  Refresh(lock, handed_);
  if (Discarded(value)) return;
  held_ = Held::kByHost;
  host_in_driver_ = done() < handed_;
  if (!host_in_driver_) {  // nothing before it is still running
    lock.unlock();
    RunHostTask(call.release());
    lock.lock();
    return;
  }
  const ContextScope scope(gpu_);
  Status status = gpu_.Check(gpu_.driver().LaunchHostFunction(launcher_->stream(), RunHostTask, call.get()),
                             "cuLaunchHostFunc");
  if (status.ok()) {
    static_cast<void>(call.release());
    return;
  }
  held_ = Held::kNo;
  if (gpu_.lost()) return Lose(lock);
  Fail(lock, value, std::move(status));
}

/// May run on a thread of the driver's: takes no lock under which the driver is called, and calls nothing of
/// it.
void CudaQueue::RunHostTask(void* argument) {
  const std::unique_ptr<HostCall> call(static_cast<HostCall*>(argument));
  if (call->queue->Discarded(call->value)) return;
  call->work->Start([queue = call->queue, value = call->value](Status status) {
    queue->OnHostDone(value, std::move(status));
  });
}

void CudaQueue::OnHostDone(std::uint64_t value, Status status) noexcept {
  {
    const std::lock_guard lock(host_mutex_);
    if (value <= host_done_) return;
    host_done_ = value;
    host_status_ = std::move(status);
  }
  watch_.Wake(weak_from_this());
}

// ---- being held ----

bool CudaQueue::HoldIsOver(Lock& lock) {
  const std::uint64_t value = handed_ + 1;
  if (Discarded(value)) return true;
  switch (held_) {
    case Held::kNo:
      break;
    case Held::kByHost:
      return HostIsOver(lock, value);
    case Held::kByWait:
      return WaitIsOver(lock, value);
    case Held::kByGate:
      return GateIsOver(lock, value);
    case Held::kByEffect:
      return EffectIsOver(lock, value);
  }
  return true;
}

bool CudaQueue::HostIsOver(Lock& lock, std::uint64_t value) {
  Status status;
  {
    const std::lock_guard host_lock(host_mutex_);
    if (host_done_ == value) {
      status = std::exchange(host_status_, Status());
      host_in_driver_ = false;
    } else if (!host_in_driver_) {
      return false;
    }
  }
  if (host_in_driver_) {
    // A lost GPU never comes to the function: ask from time to time.
    const ContextScope scope(gpu_);
    static_cast<void>(gpu_.Check(gpu_.driver().StreamQuery(launcher_->stream()), "waiting for a stream"));
    if (!gpu_.lost()) {
      watch_.WakeAt(Clock::now() + kLossInterval, weak_from_this());
      return false;
    }
    Lose(lock);
    return true;
  }
  if (!status.ok()) Fail(lock, value, std::move(status));
  return true;
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
  Lock lock(mutex_);
  WaitUntilDone(lock, tail_.load(), kNever);
  gpu_.users().fetch_sub(1);
}

// ---- progress ----

void CudaQueue::Sweep() {
  Lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && retired_ < handed_) Refresh(lock, handed_);
}

void CudaQueue::Refresh(Lock& lock, std::uint64_t wanted) {
  if (gpu_.lost()) return Lose(lock);
  if (wanted > handed_ || retired_ >= wanted) return;
  const ContextScope scope(gpu_);
  CuResult result = cu::kSuccess;
  std::uint64_t over = retired_;
  for (auto marker = markers_.begin(); marker != markers_.end() && over < wanted; ++marker) {
    result = gpu_.driver().EventQuery(marker->event->get());
    if (result != cu::kSuccess) break;
    over = marker->value;
  }
  if (over < wanted && result == cu::kSuccess) {  // behind the last marker
    result = gpu_.driver().StreamQuery(launcher_->stream());
    if (result == cu::kSuccess) {
      over = handed_;
    } else if (result == cu::kNotReady) {
      // The stream may never be seen empty while others submit: from now on there is something to ask for.
      static_cast<void>(RecordMarker(nullptr));
    }
  }
  if (result == cu::kNotReady) result = cu::kSuccess;
  Finish(lock, result, over);
}

void CudaQueue::Finish(Lock& lock, CuResult result, std::uint64_t value) {
  if (result == cu::kSuccess) return Retire(lock, value);
  static_cast<void>(gpu_.Check(result, "waiting for a stream"));
  if (gpu_.lost()) return Lose(lock);
}

void CudaQueue::Retire(Lock& lock, std::uint64_t value) {
  while (retiring_)
    WaitForChange(lock, kNever);
  if (value <= retired_) return;
  std::vector<TaskLauncher::DeviceFailure> failures;
  launcher_->Retire(value, failures);
  for (; !markers_.empty() && markers_.front().value <= value; markers_.pop_front()) {
    const Marker& marker = markers_.front();
    const std::int64_t time_ns = marker.mark != nullptr || trace_.on() ? gpu_.TimeNs(marker.event) : 0;
    if (marker.mark != nullptr) marker.mark->time_ns.store(time_ns, std::memory_order_release);
    if (trace_.on()) trace_.Ended(label, marker.value, time_ns);
  }
  for (std::uint64_t each = retired_ + 1; each <= value; ++each)
    std::destroy_at(&SlotOf(each));  // lets go of memory before anybody hears that the task is over
  retired_ = value;
  if (trace_.on()) trace_.Ended(label, value, 0);
  if (!failures.empty()) {
    retiring_ = true;
    for (TaskLauncher::DeviceFailure& failure : failures)
      Fail(lock, failure.value, std::move(failure.status));
    retiring_ = false;
  }
  timeline_->done_.store(value, std::memory_order_release);
  if (waiting_threads_ != 0) changed_.notify_all();
}

void CudaQueue::Lose(Lock& lock) {
  while (retiring_)
    WaitForChange(lock, kNever);
  const std::uint64_t first = retired_ + 1;
  const std::uint64_t tail = tail_.load();
  held_ = Held::kNo;
  discard_to_.store(tail, std::memory_order_release);
  handed_ = tail;
  if (!waiters_.empty()) WakeWaiters();
  if (first > tail) return;
  launcher_->Abandon();
  markers_.clear();
  for (std::uint64_t each = first; each <= tail; ++each)
    std::destroy_at(&SlotOf(each));
  retired_ = tail;
  retiring_ = true;
  if (trace_.on()) {
    for (std::uint64_t each = first; each <= tail; ++each)
      trace_.Dropped(each);
  }
  Fail(lock, first, gpu_.LostStatus());
  if (trace_.on()) trace_.Ended(label, tail, 0);
  retiring_ = false;
  timeline_->done_.store(tail, std::memory_order_release);
  if (waiting_threads_ != 0) changed_.notify_all();
}

bool CudaQueue::WaitForChange(Lock& lock, Deadline deadline) {
  ++waiting_threads_;
  auto woken = std::cv_status::no_timeout;
  if (deadline == kNever) {
    changed_.wait(lock);
  } else {
    woken = changed_.wait_until(lock, deadline);
  }
  --waiting_threads_;
  return woken == std::cv_status::no_timeout;
}

bool CudaQueue::WaitUntilDone(Lock& lock, std::uint64_t value, Deadline deadline) {
  const Deadline poll_until = deadline == kNever ? kNever : Clock::now() + kPollWithoutPause;
  for (;;) {
    if (done() >= value) return true;
    if (gpu_.lost()) {
      Lose(lock);
      continue;
    }
    if (handed_ < value || retiring_) {
      if (!WaitForChange(lock, deadline)) return done() >= value;
      continue;
    }
    const ContextScope scope(gpu_);
    if (deadline != kNever) {
      Refresh(lock, value);
      if (done() >= value) return true;
      const Deadline now = Clock::now();
      if (now >= deadline) return false;
      lock.unlock();
      if (now < poll_until) {
        CpuRelax();
      } else {
        std::this_thread::sleep_for(kPollInterval);
      }
      lock.lock();
      continue;
    }
    // The driver's own waits wake up soonest.
    const Marker* const marker = MarkerFor(value);
    const std::shared_ptr<GpuEvent> event = marker != nullptr ? marker->event : nullptr;
    const std::uint64_t over = marker != nullptr ? marker->value : handed_;
    lock.unlock();
    const CuResult result = event != nullptr ? gpu_.driver().EventSynchronize(event->get())
                                             : gpu_.driver().StreamSynchronize(launcher_->stream());
    lock.lock();
    Finish(lock, result, over);
  }
}

}  // namespace sampan::cuda
