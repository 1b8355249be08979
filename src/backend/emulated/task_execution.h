// Executes the tasks that move or mark something.
#pragma once

#include "backend/api/task.h"
#include "backend/emulated/queue_scheduler.h"
#include "base/status.h"
#include "trace/record.h"

namespace sampan::emulated {

/// Does the task now; large ones are shared with idle engines. Waits and host work are the queue's own
/// business.
Status ExecuteTask(Task& task, QueueScheduler& scheduler);

/// What the task is called on the rows of engines.
summary::TaskType TraceType(const Task& task);

/// Whether the task moves no more than `most_bytes`, and takes no longer than handing it to another thread
/// would.
bool IsShort(const Task& task, std::size_t most_bytes);

}  // namespace sampan::emulated
