// The progress of a queue on a GPU: completed tasks, host waits, and a lost GPU.
#include <algorithm>
#include <thread>
#include <utility>

#include "backend/cuda/queue/cuda_queue.h"
#include "base/error/assert.h"
#include "base/threads/spin.h"
#include "base/time/ticks.h"

namespace sampan::cuda {
namespace {

/// A host wait with a time limit polls after it has polled the completion word: first without pause, then at
/// intervals.
constexpr std::chrono::milliseconds kPollWithoutPause{2};
constexpr std::chrono::microseconds kPollInterval{50};

}  // namespace

bool CudaTimeline::Reached(std::uint64_t number) {
  if (done() >= number) return true;
  const auto queue = this->queue();
  if (queue == nullptr) return true;
  // Do not block: the owner of the lock updates the progress.
  CudaQueue::Lock lock(queue->mutex_, std::try_to_lock);
  if (lock.owns_lock()) queue->Refresh(lock, number);
  return done() >= number;
}

bool CudaTimeline::PassedByNow(std::uint64_t number) {
  if (done() >= number) return true;
  const auto queue = this->queue();
  if (queue == nullptr) return true;
  CudaQueue::Lock lock(queue->mutex_);
  queue->Refresh(lock, number);
  return done() >= number;
}

bool CudaTimeline::Wait(std::uint64_t number, Deadline deadline) {
  if (done() >= number) return true;
  const auto queue = this->queue();
  if (queue == nullptr) return true;
  CudaQueue::Lock lock(queue->mutex_);
  return queue->WaitUntilDone(lock, number, deadline);
}

void CudaQueue::Sweep() {
  Lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && retired_ < handed_) Refresh(lock, handed_);
}

void CudaQueue::Refresh(Lock& lock, std::uint64_t wanted) {
  SAMPAN_ASSERT(lock.owns_lock());
  if (gpu_.lost()) return Lose(lock);
  if (wanted > handed_ || retired_ >= wanted) return;
  const ContextScope scope(gpu_);
  CuResult result = cu::kSuccess;
  std::uint64_t over = retired_;
  for (auto marker = markers_.begin(); marker != markers_.end() && over < wanted; ++marker) {
    result = gpu_.driver().EventQuery(marker->event->get());
    if (result != cu::kSuccess) break;
    over = marker->number;
  }
  if (over < wanted && result == cu::kSuccess) {  // behind the last marker
    result = gpu_.driver().StreamQuery(launcher_->stream());
    if (result == cu::kSuccess) {
      over = handed_;
    } else if (result == cu::kNotReady) {
      // The stream may never be empty while others submit. From now on there is a marker to query.
      static_cast<void>(RecordMarker(nullptr));
    }
  }
  if (result == cu::kNotReady) result = cu::kSuccess;
  Finish(lock, result, over);
}

void CudaQueue::Finish(Lock& lock, CuResult result, std::uint64_t number) {
  if (result == cu::kSuccess) return Retire(lock, number);
  static_cast<void>(gpu_.Check(result, "waiting for a stream"));
  if (gpu_.lost()) return Lose(lock);
}

void CudaQueue::Retire(Lock& lock, std::uint64_t number) {
  while (retiring_)
    WaitForChange(lock, kNever);
  if (number <= retired_) return;
  std::vector<DeviceFailure> failures;
  launcher_->Retire(number, failures);
  for (; !markers_.empty() && markers_.front().number <= number; markers_.pop_front()) {
    const Marker& marker = markers_.front();
    const std::int64_t time_ns = marker.mark != nullptr || observed_.on() ? gpu_.TimeNs(marker.event) : 0;
    if (marker.mark != nullptr) marker.mark->time_ns.store(time_ns, std::memory_order_release);
    if (observed_.on()) observed_.Ended(label(), marker.number, time_ns);
  }
  for (std::uint64_t each = retired_ + 1; each <= number; ++each)
    ring_.Destroy(each);  // releases the memory before a waiter can learn that the task is over
  SAMPAN_ASSERT(number >= retired_ && number <= ring_.tail());
  retired_ = number;
  if (observed_.on()) observed_.Ended(label(), number, 0);
  if (!failures.empty()) {
    retiring_ = true;
    for (DeviceFailure& failure : failures)
      Fail(lock, failure.sequence, std::move(failure.status));
    retiring_ = false;
  }
  timeline_->SetDone(number, std::memory_order_release);
  if (waiting_threads_ != 0) changed_.notify_all();
}

void CudaQueue::Lose(Lock& lock) {
  SAMPAN_ASSERT(lock.owns_lock() && gpu_.lost());
  while (retiring_)
    WaitForChange(lock, kNever);
  const std::uint64_t first = retired_ + 1;
  const std::uint64_t tail = ring_.tail();
  held_ = Held::kNo;
  discarded_.Raise(tail, gpu_.LostStatus().code());
  discarded_.Release();
  handed_ = tail;
  if (!waiters_.empty()) WakeWaiters();
  if (first > tail) return;
  launcher_->Abandon();
  markers_.clear();
  for (std::uint64_t each = first; each <= tail; ++each)
    ring_.Destroy(each);
  retired_ = tail;
  retiring_ = true;
  if (observed_.on()) {
    for (std::uint64_t each = first; each <= tail; ++each)
      observed_.Dropped(each);
  }
  Fail(lock, first, gpu_.LostStatus());
  if (observed_.on()) observed_.Ended(label(), tail, 0);
  retiring_ = false;
  timeline_->SetDone(tail, std::memory_order_release);
  if (waiting_threads_ != 0) changed_.notify_all();
}

bool CudaQueue::CanBeOver() const {
  constexpr std::uint64_t kShortestCopyTicks = 6000;  // two or three microseconds
  const std::uint64_t since = ProcessorTicks() - launched_ticks_;
  return since == 0 || since >= kShortestCopyTicks;  // 0: there is no counter
}

template <typename Call>
auto CudaQueue::Unlocked(Lock& lock, Call call) {
  SAMPAN_ASSERT(lock.owns_lock() && launcher_ != nullptr);
  ++unlocked_threads_;
  lock.unlock();
  const auto result = call();
  lock.lock();
  if (--unlocked_threads_ == 0 && closed_) changed_.notify_all();
  return result;
}

bool CudaQueue::WaitForChange(Lock& lock, Deadline deadline) {
  SAMPAN_ASSERT(lock.owns_lock());
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

void CudaQueue::SpinForCompletion(Lock& lock, std::uint64_t number, Deadline deadline) {
  Completion completion = launcher_->kernel_completion();
  if (completion.sequence < number) {
    if (CanBeOver()) {
      const CuResult state = gpu_.driver().StreamQuery(launcher_->stream());
      if (state != cu::kNotReady) return Finish(lock, state, handed_);
    }
    completion = launcher_->WriteCompletion(handed_);  // while the GPU is busy
  }
  if (Unlocked(lock, [&] { return completion.SpinUntilDone(deadline); }))
    Finish(lock, cu::kSuccess, completion.sequence);
}

bool CudaQueue::WaitUntilDone(Lock& lock, std::uint64_t number, Deadline deadline) {
  const Deadline poll_until = deadline == kNever ? kNever : Clock::now() + kPollWithoutPause;
  bool has_spun = false;
  for (;;) {
    if (done() >= number) return true;
    if (gpu_.lost()) {
      Lose(lock);
      continue;
    }
    if (handed_ < number || retiring_) {
      if (!WaitForChange(lock, deadline)) return done() >= number;
      continue;
    }
    const ContextScope scope(gpu_);
    if (MarkerFor(number) == nullptr && !std::exchange(has_spun, true)) {
      SpinForCompletion(lock, number, deadline);
      continue;
    }
    if (deadline != kNever) {
      Refresh(lock, number);
      if (done() >= number) return true;
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
    const Marker* const marker = MarkerFor(number);
    const std::shared_ptr<GpuEvent> event = marker != nullptr ? marker->event : nullptr;
    const std::uint64_t over = marker != nullptr ? marker->number : handed_;
    const CuResult result = Unlocked(lock, [&] {
      return event != nullptr ? gpu_.driver().EventSynchronize(event->get())
                              : gpu_.driver().StreamSynchronize(launcher_->stream());
    });
    Finish(lock, result, over);
  }
}

}  // namespace sampan::cuda
