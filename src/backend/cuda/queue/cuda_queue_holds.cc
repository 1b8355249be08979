// What holds a queue on a GPU: waits that the GPU cannot do, gates, effects and host functions.
#include <algorithm>
#include <utility>

#include "backend/cuda/queue/cuda_queue.h"
#include "base/error/assert.h"
#include "observe/hooks.h"

namespace sampan::cuda {
namespace {

/// The interval of checking a stream's wait with a time limit.
constexpr std::chrono::microseconds kHoldInterval{100};
/// Intervals of polling a gate, and of asking whether it can still open. Most gates open within microseconds.
constexpr std::chrono::microseconds kMinGateInterval{1}, kGateInterval{20};
/// The same if a check is a copy from the device: less often while it takes long.
constexpr std::chrono::microseconds kWordInterval{50}, kMaxWordInterval{1000};
constexpr std::chrono::milliseconds kGateCheckInterval{20};
/// The interval of checking that the GPU still works, while a host function waits for it.
constexpr std::chrono::milliseconds kLossInterval{10};

/// The time of the next check of a wait that began at `since`.
Deadline NextLook(Deadline since, Deadline now) {
  constexpr int kPart = 8;
  return now + std::clamp<std::chrono::nanoseconds>((now - since) / kPart, kMinGateInterval, kGateInterval);
}

/// The argument of a host function's callback.
struct HostCall {
  std::shared_ptr<CudaQueue> queue;
  std::shared_ptr<HostWork> work;
  std::uint64_t number;
};

}  // namespace

// ---- waits inside the stream ----

CudaQueue::Order CudaQueue::OrderBehind(std::uint64_t number, const std::weak_ptr<CudaQueue>& waiter,
                                        std::shared_ptr<GpuEvent>* event) {
  Lock lock(mutex_);
  if (done() >= number || gpu_.lost()) return Order::kReached;
  if (handed_ < number) {
    waiters_.push_back({number, waiter});
    return Order::kNotYet;
  }
  const Marker* marker = MarkerFor(number);
  if (marker == nullptr) {
    const ContextScope scope(gpu_);
    if (Status recorded = RecordMarker(nullptr); !recorded.ok()) {
      if (gpu_.lost()) return Order::kReached;
      watch_.WakeAt(Clock::now() + kHoldInterval, waiter);  // no event is available now
      return Order::kNotYet;
    }
    marker = &markers_.back();
  }
  *event = marker->event;
  return Order::kByEvent;
}

bool CudaQueue::WaitIsOver(Lock& lock, std::uint64_t number) {
  // Copies: the task may be gone when the lock was released.
  const WaitTask task = std::get<WaitTask>(ring_.At(number));
  const auto awaited = std::dynamic_pointer_cast<CudaTimeline>(task.point.timeline);
  const std::uint64_t awaited_number = task.point.number;
  if (awaited == nullptr || awaited == timeline_) return true;  // what this queue did before is behind it
  const auto other = awaited->queue();
  if (other == nullptr || awaited->done() >= awaited_number) return true;
  if (task.limit.count() != 0) {
    const bool here = HasArrived(lock, number);
    if (Discarded(number) || awaited->Reached(awaited_number)) return true;
    if (!here) return false;
    standing_.Begin(number, task.limit);
    if (!standing_.IsOverdue()) {
      watch_.WakeAt(std::min(standing_.deadline(), Clock::now() + kHoldInterval), weak_from_this());
      return false;
    }
    Fail(lock, number, task.TimedOut());
    return true;
  }
  std::shared_ptr<GpuEvent> event;
  lock.unlock();
  const Order order = other->OrderBehind(awaited_number, weak_from_this(), &event);
  lock.lock();
  if (order == Order::kReached || Discarded(number)) return true;
  if (order == Order::kNotYet) return false;
  const ContextScope scope(gpu_);
  Status status =
      gpu_.Check(gpu_.driver().StreamWaitEvent(launcher_->stream(), event->get(), 0), "cuStreamWaitEvent");
  if (status.ok() && observed_.on()) {
    handed_ = number;
    status = RecordMarker(nullptr);
  }
  if (!status.ok() && gpu_.lost()) {
    Lose(lock);
  } else if (!status.ok()) {
    Fail(lock, number, std::move(status));
  }
  return true;
}

// ---- gates and effects: the host's work, when everything before them is over ----

bool CudaQueue::HasArrived(Lock& lock, std::uint64_t number) {
  Refresh(lock, handed_);
  if (done() >= handed_) return true;
  arriving_.Begin(number, {});
  watch_.WakeAt(NextLook(arriving_.since(), Clock::now()), weak_from_this());
  return false;
}

bool CudaQueue::GateIsOver(Lock& lock, std::uint64_t number) {
  // Copies: the task may be gone when the lock was released.
  const std::shared_ptr<Gate> gate = std::get<GateTask>(ring_.At(number)).gate.get();
  const std::chrono::nanoseconds limit = std::get<GateTask>(ring_.At(number)).limit;
  const bool here = HasArrived(lock, number);
  if (Discarded(number)) return true;
  if (!here) return false;
  standing_.Begin(number, limit);
  const Deadline now = Clock::now();
  const Deadline since = standing_.since();
  const bool ask = now >= std::max(gate_check_, since);
  if (ask) gate_check_ = now + kGateCheckInterval;
  if (auto outcome = standing_.TryPass(*gate, limit, ask)) {
    outcome->ok() ? FinishWait(lock, number, gate->Outcome()) : Fail(lock, number, std::move(*outcome));
    return true;
  }
  const Deadline next =
      gate->word() != nullptr
          ? NextLook(since, now)
          : now + std::clamp<std::chrono::nanoseconds>((now - since) / 4, kWordInterval, kMaxWordInterval);
  watch_.WakeAt(std::min(standing_.deadline(), next), weak_from_this());
  return false;
}

bool CudaQueue::EffectIsOver(Lock& lock, std::uint64_t number) {
  const std::shared_ptr<Effect> effect = std::get<EffectTask>(ring_.At(number)).effect;
  const bool here = HasArrived(lock, number);
  if (Discarded(number)) return true;
  if (!here) return false;
  lock.unlock();  // it may free memory, which calls the driver
  Status applied = effect->Apply();
  lock.lock();
  if (!applied.ok() && !Discarded(number)) Fail(lock, number, std::move(applied));
  return true;
}

// ---- host work ----

void CudaQueue::StartHost(Lock& lock, HostTask& task, std::uint64_t number) {
  auto call = std::make_unique<HostCall>(HostCall{shared_from_this(), task.work, number});
  Refresh(lock, handed_);
  if (Discarded(number)) return;
  SAMPAN_ASSERT(held_ == Held::kNo);
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
  Fail(lock, number, std::move(status));
}

/// May run on a thread of the driver. So it takes no lock under which the driver is called, and calls no
/// driver function.
void CudaQueue::RunHostTask(void* argument) {
  const std::unique_ptr<HostCall> call(static_cast<HostCall*>(argument));
  if (call->queue->Discarded(call->number)) return;
  if (observe::On() && call->work->runs_program()) observe::TellHostCode(call->queue->label(), call->number);
  call->work->Start([queue = call->queue, number = call->number](Status status) {
    if (queue->host_outcome_.Deliver(number, std::move(status))) queue->watch_.Wake(queue);
  });
}

// ---- being held ----

bool CudaQueue::HoldIsOver(Lock& lock) {
  SAMPAN_ASSERT(lock.owns_lock() && handing_ && held_ != Held::kNo);
  const std::uint64_t number = handed_ + 1;
  if (Discarded(number)) return true;
  switch (held_) {
    case Held::kNo:
      break;
    case Held::kByHost:
      return HostIsOver(lock, number);
    case Held::kByWait: {
      const WaitTask task = std::get<WaitTask>(ring_.At(number));  // may be gone when the lock was released
      if (!WaitIsOver(lock, number)) return false;
      if (Discarded(number)) return true;
      FinishWait(lock, number, task.Outcome());
      return true;
    }
    case Held::kByGate:
      return GateIsOver(lock, number);
    case Held::kByEffect:
      return EffectIsOver(lock, number);
    case Held::kByOutcome:
      return HasArrived(lock, number);
  }
  return true;
}

bool CudaQueue::Inspect(const std::function<void(std::uint64_t, const Task&)>& look) {
  const Lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || handing_ || held_ == Held::kNo || held_ == Held::kByOutcome) return false;
  for (std::uint64_t number = handed_ + 1; number <= ring_.tail(); ++number)
    look(number, ring_.At(number));
  return true;
}

std::string CudaTimeline::Describe() const {
  const auto of_queue = queue();
  return of_queue != nullptr ? of_queue->Describe() : "a destroyed stream";
}

bool CudaQueue::HostIsOver(Lock& lock, std::uint64_t number) {
  if (auto outcome = host_outcome_.Take(number)) {
    host_in_driver_ = false;
    if (!outcome->ok()) Fail(lock, number, std::move(*outcome));
    return true;
  }
  if (!host_in_driver_) return false;
  // A lost GPU never calls the function, so this checks at intervals.
  const ContextScope scope(gpu_);
  static_cast<void>(gpu_.Check(gpu_.driver().StreamQuery(launcher_->stream()), "waiting for a stream"));
  if (!gpu_.lost()) {
    watch_.WakeAt(Clock::now() + kLossInterval, weak_from_this());
    return false;
  }
  Lose(lock);
  return true;
}

}  // namespace sampan::cuda
