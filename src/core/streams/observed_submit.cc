// Hands tasks over while there are observers, and tells these.
#include "core/streams/observed_submit.h"

#include <utility>

#include "observe/hooks.h"

namespace sampan::core {

Result<std::uint64_t> SubmitObserved(Queue& queue, Task& task, std::uint64_t earlier) {
  const observe::Submission submission = observe::BeginSubmission(queue.label(), nullptr, task);
  auto number = queue.Submit(task, earlier);
  if (number.ok() && *number != 0) observe::EndSubmission(submission, *number);
  return number;
}

Status RunObserved(std::int32_t device_id, const Task& task, const observe::BlockingReason& reason,
                   const std::function<Status()>& run) {
  using observe::TaskType;
  QueueLabel queue = reason.queue;
  queue.device = device_id;
  const observe::Submission submission = observe::BeginSubmission(queue, &reason, task);
  const bool fills = observe::TypeOf(task) == TaskType::kMemsetAsync;
  observe::BeginExecution(
      {{.device = device_id}, submission.serial, fills ? TaskType::kMemset : TaskType::kMemcpy});
  observe::Execution& execution = observe::ThisThread().executing;
  const std::int64_t begin_ns = observe::NowNs();
  Status status = run();
  execution.begin_ns = begin_ns;
  execution.end_ns = observe::NowNs();
  execution.code = static_cast<std::int32_t>(status.code());
  observe::EndSubmission(submission, 0);
  return status;
}

}  // namespace sampan::core
