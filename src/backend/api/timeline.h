// A sequence number that only grows; stream order, events and host waits are all points on one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/error/assert.h"
#include "base/time/clock.h"

namespace sampan {

/// One per queue: the sequence number of the last task that is done. Thread-safe.
class Timeline {
 public:
  virtual ~Timeline() = default;
  /// Whether the task of that number is over. Never blocks.
  virtual bool Reached(std::uint64_t number) = 0;
  /// The same from inside the runtime: no schedule takes it for a program that asks for progress.
  virtual bool Passed(std::uint64_t number) { return Reached(number); }
  /// The same, never too late: a queue that learns of its progress by asking asks now, which may block for a
  /// moment.
  virtual bool PassedByNow(std::uint64_t number) { return Passed(number); }
  /// Blocks the calling thread until that task is over or the deadline has passed; says whether the task
  /// is over.
  virtual bool Wait(std::uint64_t number, Deadline deadline) = 0;
  /// The last task that is known to be over. Never blocks.
  virtual std::uint64_t completed() const = 0;
  /// Text for messages: the stream that it belongs to.
  virtual std::string Describe() const = 0;
  /// The calling thread tells the program that the task of that number is over. What the program does next is
  /// ordered behind it, for tools that look for races.
  virtual void Observe(std::uint64_t /*number*/) {}
};

/// What the timelines of all queues have: how far the queue is, and which it is. May outlive its queue, whose
/// tasks are all over then.
template <typename OwnQueue>
class QueueTimeline : public Timeline {
 public:
  std::uint64_t done() const { return done_.load(std::memory_order_acquire); }
  std::uint64_t completed() const final { return done(); }
  std::shared_ptr<OwnQueue> queue() const { return queue_.lock(); }
  /// Once, right after both were made.
  void set_queue(std::weak_ptr<OwnQueue> queue) { queue_ = std::move(queue); }

 protected:
  /// One thread at a time, with growing numbers.
  void SetDone(std::uint64_t task, std::memory_order order) {
    SAMPAN_ASSERT(task >= done());
    done_.store(task, order);
  }
  /// In one order with the stores of threads that are about to wait.
  std::uint64_t DoneInOrder() const { return done_.load(std::memory_order_seq_cst); }

 private:
  std::weak_ptr<OwnQueue> queue_;
  alignas(64) std::atomic<std::uint64_t> done_{0};  // written with every task that ends
};

/// A moment on a timeline. Without a timeline it is always in the past.
struct Point {
  std::shared_ptr<Timeline> timeline;
  std::uint64_t number = 0;  ///< of the task whose end it is

  bool Reached() const { return timeline == nullptr || timeline->Reached(number); }
  bool Passed() const { return timeline == nullptr || timeline->Passed(number); }
  bool PassedByNow() const { return timeline == nullptr || timeline->PassedByNow(number); }
  bool Wait(Deadline deadline) const { return timeline == nullptr || timeline->Wait(number, deadline); }
  void Observe() const {
    if (timeline != nullptr) timeline->Observe(number);
  }
};

}  // namespace sampan
