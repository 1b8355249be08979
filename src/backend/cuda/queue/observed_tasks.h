// What observers are told of the tasks that a queue hands to the driver.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/api/task.h"
#include "base/error/assert.h"
#include "observe/hooks.h"

namespace sampan::cuda {

/// Keeps when and how each task went to the driver. A task's time on the GPU begins when it is handed over,
/// but not before the previous task ended. It ends with an event behind the task. Host work ends by the
/// host's clock. Used under the queue's lock. While off, it keeps nothing.
class ObservedTasks {
 public:
  explicit ObservedTasks(std::uint64_t slots) : slots_(observe::On() ? slots : 0) {}

  bool on() const { return !slots_.empty() && observe::On(); }
  /// The calling thread is about to hand the task over.
  void Begin(std::uint64_t number);
  /// It has: notes the way that was chosen meanwhile.
  void Handed(std::uint64_t number);
  /// It was the host's to do, or to wait for, and is over now.
  void Passed(std::uint64_t number) { SlotOf(number).passed_ns = observe::NowNs(); }
  void Dropped(std::uint64_t number) { SlotOf(number).discarded = true; }
  void Failed(std::uint64_t number, Code code) { SlotOf(number).failure = static_cast<std::int32_t>(code); }
  /// Tasks up to this one are completed. `time_ns` is its end on the GPU's clock; 0 if unknown.
  void Ended(const QueueLabel& queue, std::uint64_t number, std::int64_t time_ns);

 private:
  struct Slot {
    std::int64_t handed_ns = 0;
    std::int64_t passed_ns = 0;
    const char* reason = nullptr;
    observe::Path path = observe::Path::kNone;
    std::int32_t failure = 0;
    std::uint32_t multiprocessors = 0;
    bool discarded = false;
  };
  Slot& SlotOf(std::uint64_t number) {
    SAMPAN_ASSERT(!slots_.empty() && (slots_.size() & (slots_.size() - 1)) == 0);
    return slots_[number & (slots_.size() - 1)];
  }

  std::vector<Slot> slots_;  // a power of two
  std::uint64_t told_ = 0;   // tasks that observers know to be over
  std::int64_t last_end_ns_ = 0;
};

}  // namespace sampan::cuda
