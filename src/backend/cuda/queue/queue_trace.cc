// The trace records of tasks that a queue hands to the driver.
#include "backend/cuda/queue/queue_trace.h"

#include <algorithm>

namespace sampan::cuda {

void QueueTrace::Begin(std::uint64_t value) {
  trace::BeginExecution({});
  SlotOf(value) = {.handed_ns = trace::NowNs()};
}

void QueueTrace::Handed(std::uint64_t value) {
  const trace::ThreadState& thread = trace::ThisThread();
  SlotOf(value).path = thread.path;
  SlotOf(value).reason = thread.reason;
}

void QueueTrace::Ended(const trace::QueueLabel& queue, std::uint64_t value, std::int64_t time_ns) {
  // The two clocks differ a little. A completed task ended before now, because a later stream of the same
  // number may begin at once.
  const std::int64_t now_ns = trace::NowNs();
  while (told_ < value) {
    const Slot& slot = SlotOf(++told_);
    trace::ExecutionRecord record{};
    const std::int64_t over_ns = told_ == value && time_ns != 0 ? time_ns : slot.passed_ns;
    const bool timed = over_ns != 0;
    record.head.flags = static_cast<std::uint8_t>((slot.discarded ? trace::ExecutionRecord::kDiscarded : 0) |
                                                  trace::ExecutionRecord::kByDriver |
                                                  (timed ? trace::ExecutionRecord::kTimed : 0));
    record.head.code = slot.failure;
    record.queue = queue;
    record.task = told_;
    record.begin_ns = std::max(slot.handed_ns, last_end_ns_);
    record.end_ns = std::max(std::min(over_ns, now_ns), record.begin_ns);
    record.path = slot.path;
    record.reason = slot.reason;
    last_end_ns_ = std::max(record.end_ns, record.begin_ns + 1);  // two tasks never begin at the same time
    trace::NoteExecution(record);
  }
}

}  // namespace sampan::cuda
