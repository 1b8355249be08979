// The progress of one emulated queue, with the threads and queues that wait for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/api/timeline.h"
#include "backend/emulated/queue/race_watch.h"
#include "backend/emulated/schedule/queue_scheduler.h"
#include "base/error/assert.h"

namespace sampan::emulated {

/// Thread-safe. May outlive its queue. While no thread waits, Advance costs one store and one load.
class EmulatedTimeline final : public QueueTimeline<EmulatedQueue> {
 public:
  EmulatedTimeline(QueueScheduler& scheduler, std::unique_ptr<RaceWatch> races)
      : scheduler_(scheduler), races_(std::move(races)) {
    host_waits_.reserve(
        kReservedHostWaits);  // so that a submitter does not allocate when it waits for a free slot
  }

  bool Reached(std::uint64_t number) override;
  bool Passed(std::uint64_t number) override { return done() >= number; }
  bool Wait(std::uint64_t number, Deadline deadline) override;
  std::string Describe() const override;
  void Observe(std::uint64_t number) override {
    if (races_ != nullptr) [[unlikely]]
      races_->Observed(number);
  }
  /// Null if races are not looked for.
  RaceWatch* races() const { return races_.get(); }

  /// Called by the thread that executes the queue, with growing numbers.
  void Advance(std::uint64_t number);
  /// The same for a number that no program can know of yet, so that no thread waits for it.
  void AdvanceBeforeSubmission(std::uint64_t number) {
    SAMPAN_ASSERT(number == done() + 1);
    SetDone(number, std::memory_order_release);
  }
  /// Unblocks the queue once the number is reached; false when it already is.
  bool AddWaiter(std::uint64_t number, std::weak_ptr<EmulatedQueue> queue);

 private:
  static constexpr std::uint64_t kNoWaiter = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kReservedHostWaits = 8;
  struct Waiter {
    std::uint64_t number;
    std::weak_ptr<EmulatedQueue> queue;
  };

  void WakeReached(std::uint64_t number);

  QueueScheduler& scheduler_;
  const std::unique_ptr<RaceWatch> races_;
  alignas(64) std::atomic<std::uint64_t> wake_at_{
      kNoWaiter};  // the least number that a thread or a queue waits for
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint64_t> host_waits_;
};

}  // namespace sampan::emulated
