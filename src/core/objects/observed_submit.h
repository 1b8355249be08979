// Hands tasks over while there are observers, and tells these.
#pragma once

#include <cstdint>

#include "backend/api/backend.h"
#include "backend/api/queue.h"
#include "backend/api/task.h"
#include "base/error/status.h"
#include "observe/observer.h"

namespace sampan {

/// Queue::Submit.
Result<std::uint64_t> SubmitObserved(Queue& queue, Task&& task);

/// BackendDevice::RunNow.
Status RunObserved(BackendDevice& device, std::int32_t device_id, Task&& task,
                   const observe::BlockingReason& reason);

}  // namespace sampan
