// Executes the tasks that move or mark something.
#pragma once

#include <chrono>
#include <cstddef>

#include "backend/api/task.h"
#include "backend/emulated/queue_scheduler.h"
#include "base/status.h"
#include "trace/record.h"

namespace sampan::emulated {

/// Tasks with so many bytes in all are short, whatever their form.
inline constexpr std::size_t kBytesAlwaysShort = 4096;
/// Handing a task to an engine that sleeps takes its submitter this long (bench_small): a task that takes
/// less is executed at once.
inline constexpr std::chrono::nanoseconds kHandOverTime{4'000};

/// About how long copying takes: by the bytes, and by the pieces that they come in.
constexpr std::chrono::nanoseconds EstimatedTime(std::size_t bytes, std::size_t pieces) {
  constexpr std::size_t kBytesPerNs = 10, kNsPerPiece = 8;
  return std::chrono::nanoseconds(bytes / kBytesPerNs + pieces * kNsPerPiece);
}

/// True if executing the task takes no longer than the limit, and cannot block.
bool IsShort(const Task& task, std::chrono::nanoseconds limit = kHandOverTime);

/// What the task is called on the rows of engines.
summary::TaskType TraceType(const Task& task);

/// Does the task now; large ones are shared with idle engines. Waits and host work are the queue's own.
Status ExecuteTask(Task& task, QueueScheduler& scheduler);

}  // namespace sampan::emulated
