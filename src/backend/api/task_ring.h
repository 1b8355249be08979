// The pending tasks of a queue, each in the slot of its number.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <variant>

#include "backend/api/task.h"
#include "base/error/assert.h"

namespace sampan {

/// Has no lock: one submitter at a time adds tasks, one executor at a time removes them.
class TaskRing {
 public:
  /// More than any queue's depth; the slots of numbers that differ by less are different ones.
  static constexpr std::uint64_t kSlots = 2048;
  static_assert((kSlots & (kSlots - 1)) == 0);

  explicit TaskRing(std::uint64_t depth)
      : slots_(static_cast<Task*>(::operator new(kSlots * sizeof(Task)))), depth_(depth) {
    SAMPAN_ASSERT(depth > 0 && depth <= kSlots);
  }
  /// The owner must have destroyed the tasks.
  ~TaskRing() { ::operator delete(slots_); }
  TaskRing(const TaskRing&) = delete;
  TaskRing& operator=(const TaskRing&) = delete;

  std::uint64_t depth() const { return depth_; }
  /// The number of the last task submitted.
  std::uint64_t submitted() const { return tail_.load(std::memory_order_acquire); }
  /// The same for submitters, which exclude each other.
  std::uint64_t tail() const { return tail_.load(std::memory_order_relaxed); }
  /// True if no task can be put in while tasks up to `done` are over.
  bool IsFull(std::uint64_t done) const {
    SAMPAN_ASSERT(done <= tail());
    return tail() - done >= depth_;
  }

  /// Puts the next task in; returns its number.
  std::uint64_t Put(Task&& task) {
    const std::uint64_t number = tail() + 1;
    std::construct_at(&At(number), std::move(task));
    tail_.store(number, std::memory_order_release);
    return number;
  }
  /// Counts a task that was executed without a slot.
  void Skip(std::uint64_t number) {
    SAMPAN_ASSERT(number == tail() + 1);
    tail_.store(number, std::memory_order_release);
  }
  /// A task that was put in and not destroyed.
  Task& At(std::uint64_t number) { return slots_[number & (kSlots - 1)]; }
  void Destroy(std::uint64_t number) {
    SAMPAN_ASSERT(number > 0 && number <= submitted() && submitted() - number < kSlots);
    std::destroy_at(&At(number));
  }
  /// Prefetches a slot that is needed soon.
  void PrefetchToRead(std::uint64_t number) { __builtin_prefetch(&At(number)); }
  void PrefetchToWrite(std::uint64_t number) { __builtin_prefetch(&At(number), 1); }

 private:
  Task* const slots_;  // each constructed when a task is put there
  const std::uint64_t depth_;
  std::atomic<std::uint64_t> tail_{0};
};

/// The last task that a queue drops, and the last dropped task that it may pass. Thread-safe; both only grow.
class DiscardMark {
 public:
  std::uint64_t last() const { return last_.load(std::memory_order_seq_cst); }
  bool Covers(std::uint64_t task) const { return task <= last(); }
  /// True for a dropped task that the queue must not pass over yet: what waits for it would go on.
  bool Holds(std::uint64_t task) const {
    return Covers(task) && task > passable_.load(std::memory_order_seq_cst);
  }
  void Raise(std::uint64_t task, Code reason) {
    if (!Covers(task)) reason_.store(reason, std::memory_order_seq_cst);
    RaiseTo(last_, task);
  }
  /// For a dropped task that the queue passes over.
  void Tell(Task& task) const { NoteDropped(task, reason_.load(std::memory_order_seq_cst)); }
  /// Lets the queue pass all tasks dropped so far.
  void Release() { RaiseTo(passable_, last_.load(std::memory_order_seq_cst)); }

 private:
  static void RaiseTo(std::atomic<std::uint64_t>& last, std::uint64_t task) {
    std::uint64_t before = last.load(std::memory_order_relaxed);
    while (before < task && !last.compare_exchange_weak(before, task, std::memory_order_seq_cst)) {
    }
  }

  std::atomic<std::uint64_t> last_{0};
  std::atomic<std::uint64_t> passable_{0};
  std::atomic<Code> reason_{Code::kOk};  // of the last ones
};

}  // namespace sampan
