// The trace records of submitted tasks, and of copies outside every stream.
#pragma once

#include <cstdint>

#include "backend/api/backend.h"
#include "backend/api/queue.h"
#include "backend/api/task.h"
#include "base/error/status.h"

namespace sampan {

/// Submits a task and records it. Only while there is a trace.
Result<std::uint64_t> SubmitTraced(Queue& queue, Task&& task);

/// Why a copy is executed before its call returns.
struct BlockingReason {
  bool asynchronous_call = false;  ///< the call is asynchronous
  trace::QueueLabel queue{};       ///< the stream of the call, if any
  const char* text = "a blocking call";
};

/// Runs a task and records it. Only while there is a trace.
Status RunTraced(BackendDevice& device, std::int32_t device_id, Task&& task, const BlockingReason& reason);

}  // namespace sampan
