// What ThreadSanitizer is told of a queue.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/api/queue_label.h"
#include "backend/api/task.h"
#include "base/threads/thread_sanitizer.h"

namespace sampan::emulated {

/// A queue is a thread of its own for ThreadSanitizer (a fiber). Its tasks follow one another, each follows
/// its submission, and what waits for a task follows that task. So a missing synchronisation is found
/// whichever thread executes the task, and whenever. Thread-safe; the turn of the queue is the right to call
/// what says so.
class RaceWatch {
 public:
  /// Null if races are not looked for. `depth`: tasks that the queue holds.
  static std::unique_ptr<RaceWatch> Create(const QueueLabel& label, std::uint64_t depth);

  /// The calling thread submits the task. One thread at a time.
  void Submitted(std::uint64_t number, const races::CallStack& stack);
  /// The calling thread learned that the task is over.
  void Observed(std::uint64_t number);

  // With the turn.
  /// The task comes to the head.
  void Begin(std::uint64_t number);
  /// The queue is about to execute the task. The calling thread is on its fiber.
  void Tell(std::uint64_t number, const Task& task);
  /// The task is over.
  void Complete(std::uint64_t number);
  /// What comes next in the queue follows the release of a key; what came before is released to it.
  void Acquire(const void* key);
  void Release(const void* key);
  /// The same for a task of another queue.
  void Follow(RaceWatch& other, std::uint64_t number) { Acquire(&other.SlotOf(number).completed); }

  const races::Fiber& fiber() const { return fiber_; }

 private:
  struct Slot {
    races::Key submitted, completed;
    races::CallStack stack;
  };

  RaceWatch(const QueueLabel& label, std::uint64_t depth);
  /// Shared by tasks that are never queued together. A thread that waits for the older one may be taken for
  /// one that waits for the newer: a race may be missed, none is invented.
  Slot& SlotOf(std::uint64_t number) { return slots_[number % slots_.size()]; }

  const races::Fiber fiber_;
  std::vector<Slot> slots_;
};

/// The calling thread is about to execute the task itself.
void TellRaces(const Task& task);

}  // namespace sampan::emulated
