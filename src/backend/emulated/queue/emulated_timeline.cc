// The progress of one emulated queue, with the threads and queues that wait for it.
#include "backend/emulated/queue/emulated_timeline.h"

#include <algorithm>

#include "backend/emulated/queue/emulated_queue.h"
#include "base/error/assert.h"

namespace sampan::emulated {

bool EmulatedTimeline::Reached(std::uint64_t number) {
  if (done() >= number) return true;
  scheduler_.Polled(*this);
  return done() >= number;
}

void EmulatedTimeline::Advance(std::uint64_t number) {
  SAMPAN_ASSERT(number == done() + 1);
  // Sequentially consistent against the waiter, which stores wake_at_ first and loads the progress then:
  // one sees the other.
  SetDone(number, std::memory_order_seq_cst);
  if (number >= wake_at_.load(std::memory_order_seq_cst)) WakeReached(number);
}

void EmulatedTimeline::WakeReached(std::uint64_t number) {
  std::vector<Waiter> reached;
  {
    const std::lock_guard lock(mutex_);
    const auto rest = std::partition(waiters_.begin(), waiters_.end(),
                                     [&](const Waiter& waiter) { return waiter.number > number; });
    reached.assign(std::move_iterator(rest), std::move_iterator(waiters_.end()));
    waiters_.erase(rest, waiters_.end());
    std::uint64_t lowest = kNoWaiter;
    for (const Waiter& waiter : waiters_)
      lowest = std::min(lowest, waiter.number);
    for (const std::uint64_t awaited : host_waits_) {
      if (awaited > number) lowest = std::min(lowest, awaited);
    }
    SAMPAN_ASSERT(lowest > number);
    wake_at_.store(lowest, std::memory_order_seq_cst);
  }
  changed_.notify_all();
  for (const Waiter& waiter : reached) {
    if (const auto queue = waiter.queue.lock()) queue->Unblock();
  }
}

bool EmulatedTimeline::AddWaiter(std::uint64_t number, std::weak_ptr<EmulatedQueue> queue) {
  const std::lock_guard lock(mutex_);
  waiters_.push_back({number, std::move(queue)});
  wake_at_.store(std::min(wake_at_.load(), number), std::memory_order_seq_cst);
  if (DoneInOrder() < number) return true;
  waiters_.pop_back();
  return false;
}

bool EmulatedTimeline::Wait(std::uint64_t number, Deadline deadline) {
  scheduler_.Drive(*this, number, deadline);
  if (done() >= number) return true;
  std::unique_lock lock(mutex_);
  host_waits_.push_back(number);
  wake_at_.store(std::min(wake_at_.load(), number), std::memory_order_seq_cst);
  const auto reached = [&] { return DoneInOrder() >= number; };
  bool done = true;
  if (deadline == kNever) {
    changed_.wait(lock, reached);
  } else {
    done = changed_.wait_until(lock, deadline, reached);
  }
  const auto own_wait = std::find(host_waits_.begin(), host_waits_.end(), number);
  SAMPAN_ASSERT(own_wait != host_waits_.end());
  host_waits_.erase(own_wait);
  return done;
}

std::string EmulatedTimeline::Describe() const {
  const auto of_queue = queue();
  return of_queue != nullptr ? of_queue->Describe() : "a destroyed stream";
}

}  // namespace sampan::emulated
