// What observers are told of the tasks that a queue hands to the driver.
#include "backend/cuda/queue/observed_tasks.h"

#include <algorithm>

namespace sampan::cuda {

void ObservedTasks::Begin(std::uint64_t number) {
  observe::BeginExecution({});
  SlotOf(number) = {.handed_ns = observe::NowNs()};
}

void ObservedTasks::Handed(std::uint64_t number) {
  const observe::Execution& handed = observe::ThisThread().executing;
  SlotOf(number).path = handed.path;
  SlotOf(number).reason = handed.reason;
  SlotOf(number).multiprocessors = handed.multiprocessors;
}

void ObservedTasks::Ended(const QueueLabel& queue, std::uint64_t number, std::int64_t time_ns) {
  // The two clocks differ a little. A completed task ended before now, because a later stream of the same
  // number may begin at once.
  const std::int64_t now_ns = observe::NowNs();
  while (told_ < number) {
    const Slot& slot = SlotOf(++told_);
    const std::int64_t over_ns = told_ == number && time_ns != 0 ? time_ns : slot.passed_ns;
    observe::Execution execution{.task = {queue, told_}};
    execution.begin_ns = std::max(slot.handed_ns, last_end_ns_);
    execution.end_ns = std::max(std::min(over_ns, now_ns), execution.begin_ns);
    execution.path = slot.path;
    execution.reason = slot.reason;
    execution.code = slot.failure;
    execution.multiprocessors = slot.multiprocessors;
    execution.discarded = slot.discarded;
    execution.by_driver = true;
    execution.timed = over_ns != 0;
    last_end_ns_ = std::max(execution.end_ns, execution.begin_ns + 1);  // two never begin at the same time
    observe::TellExecution(execution);
  }
}

}  // namespace sampan::cuda
