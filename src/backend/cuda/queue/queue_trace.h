// The trace records of tasks that a queue hands to the driver.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/api/task.h"
#include "base/error/assert.h"
#include "trace/trace.h"

namespace sampan::cuda {

/// Records when and how each task was launched. A task's time on the GPU begins with its hand-over, or with
/// the end of the previous task if that is later. It ends with an event behind the task. Host work ends by
/// the host's clock. Used under the queue's lock. While off, it keeps nothing.
class QueueTrace {
 public:
  explicit QueueTrace(std::uint64_t slots) : slots_(trace::On() ? slots : 0) {}

  bool on() const { return !slots_.empty() && trace::On(); }
  /// Called before the task is handed over.
  void Begin(std::uint64_t value);
  /// Called after the hand-over: records the chosen path.
  void Handed(std::uint64_t value);
  /// Called when a task of the host, or a wait of the host, is completed.
  void Passed(std::uint64_t value) { SlotOf(value).passed_ns = trace::NowNs(); }
  void Dropped(std::uint64_t value) { SlotOf(value).discarded = true; }
  void Failed(std::uint64_t value, Code code) { SlotOf(value).failure = static_cast<std::int32_t>(code); }
  /// Tasks up to this one are completed. `time_ns` is its end on the GPU's clock; 0 if unknown.
  void Ended(const trace::QueueLabel& queue, std::uint64_t value, std::int64_t time_ns);

 private:
  struct Slot {
    std::int64_t handed_ns = 0;
    std::int64_t passed_ns = 0;
    const char* reason = nullptr;
    summary::Path path = summary::Path::kNone;
    std::int32_t failure = 0;
    bool discarded = false;
  };
  Slot& SlotOf(std::uint64_t value) {
    SAMPAN_ASSERT(!slots_.empty() && (slots_.size() & (slots_.size() - 1)) == 0);
    return slots_[value & (slots_.size() - 1)];
  }

  std::vector<Slot> slots_;  // a power of two
  std::uint64_t told_ = 0;   // tasks that the trace knows as completed
  std::int64_t last_end_ns_ = 0;
};

}  // namespace sampan::cuda
