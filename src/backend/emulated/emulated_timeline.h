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
#include "backend/emulated/queue_scheduler.h"
#include "backend/emulated/race_watch.h"
#include "base/assert.h"

namespace sampan::emulated {

/// Thread-safe; may outlive its queue. Advancing costs one store and one load while no thread waits.
class EmulatedTimeline final : public QueueTimeline<EmulatedQueue> {
 public:
  EmulatedTimeline(QueueScheduler& scheduler, std::unique_ptr<RaceWatch> races)
      : scheduler_(scheduler), races_(std::move(races)) {
    host_waits_.reserve(kReservedHostWaits);  // so that a submitter that waits for room allocates nothing
  }

  bool Reached(std::uint64_t value) override;
  bool Passed(std::uint64_t value) override { return done() >= value; }
  bool Wait(std::uint64_t value, Deadline deadline) override;
  void Observe(std::uint64_t value) override {
    if (races_ != nullptr) [[unlikely]]
      races_->Observed(value);
  }
  /// Null if races are not looked for.
  RaceWatch* races() const { return races_.get(); }

  /// Called by the thread that executes the queue, with growing values.
  void Advance(std::uint64_t value);
  /// The same for a value that no program can know of yet, so that no thread waits for it.
  void AdvanceBeforeSubmission(std::uint64_t value) {
    SAMPAN_ASSERT(value == done() + 1);
    SetDone(value, std::memory_order_release);
  }
  /// Unblocks the queue once the value is reached; false when it already is.
  bool AddWaiter(std::uint64_t value, std::weak_ptr<EmulatedQueue> queue);

 private:
  static constexpr std::uint64_t kNoWaiter = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kReservedHostWaits = 8;
  struct Waiter {
    std::uint64_t value;
    std::weak_ptr<EmulatedQueue> queue;
  };

  void WakeReached(std::uint64_t value);

  QueueScheduler& scheduler_;
  const std::unique_ptr<RaceWatch> races_;
  alignas(64) std::atomic<std::uint64_t> wake_at_{
      kNoWaiter};  // the least value that a thread or a queue waits for
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint64_t> host_waits_;
};

}  // namespace sampan::emulated
