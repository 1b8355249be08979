// The progress of one emulated queue, and everybody who waits for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/api/timeline.h"
#include "backend/emulated/queue_scheduler.h"

namespace sampan::emulated {

/// Thread-safe; may outlive its queue. Advancing costs one store and one load while nobody waits.
class EmulatedTimeline final : public Timeline {
 public:
  explicit EmulatedTimeline(QueueScheduler& scheduler) : scheduler_(scheduler) {
    host_waits_.reserve(kFewHostWaits);  // so that a submitter that waits for room allocates nothing
  }

  bool Reached(std::uint64_t value) override;
  bool Passed(std::uint64_t value) override { return this->value() >= value; }
  bool Wait(std::uint64_t value, Deadline deadline) override;

  std::uint64_t value() const { return value_.load(std::memory_order_acquire); }
  /// Called by whoever executes the queue, with growing values.
  void Advance(std::uint64_t value);
  /// The same for a value that no program can know of yet: nobody waits for it.
  void AdvanceBeforeSubmission(std::uint64_t value) { value_.store(value, std::memory_order_release); }
  /// Unblocks the queue once the value is reached; false when it already is.
  bool AddWaiter(std::uint64_t value, std::weak_ptr<EmulatedQueue> queue);

  /// The queue whose progress this is; set once, right after both were made.
  void set_queue(std::weak_ptr<EmulatedQueue> queue) { queue_ = std::move(queue); }
  std::shared_ptr<EmulatedQueue> queue() const { return queue_.lock(); }

 private:
  static constexpr std::uint64_t kNobody = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kFewHostWaits = 8;
  struct Waiter {
    std::uint64_t value;
    std::weak_ptr<EmulatedQueue> queue;
  };

  void WakeReached(std::uint64_t value);

  QueueScheduler& scheduler_;
  std::weak_ptr<EmulatedQueue> queue_;
  alignas(64) std::atomic<std::uint64_t> value_{0};          // written with every task that ends
  alignas(64) std::atomic<std::uint64_t> wake_at_{kNobody};  // the least value that somebody waits for
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint64_t> host_waits_;
};

}  // namespace sampan::emulated
