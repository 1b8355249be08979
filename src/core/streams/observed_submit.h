// Hands tasks over while there are observers, and tells these.
#pragma once

#include <cstdint>
#include <functional>

#include "backend/api/queue.h"
#include "backend/api/task.h"
#include "base/error/status.h"
#include "observe/observer.h"

namespace sampan::core {

/// Queue::Submit.
Result<std::uint64_t> SubmitObserved(Queue& queue, Task& task, std::uint64_t earlier);

/// Calls `run`, which executes the task before it returns, and reports both to the observers.
Status RunObserved(std::int32_t device_id, const Task& task, const observe::BlockingReason& reason,
                   const std::function<Status()>& run);

}  // namespace sampan::core
