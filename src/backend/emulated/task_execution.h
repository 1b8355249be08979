// Executes the tasks that move or mark something.
#pragma once

#include "backend/api/task.h"
#include "backend/emulated/queue_scheduler.h"
#include "base/status.h"

namespace sampan::emulated {

/// Does the task now; large ones are shared with idle engines. Waits and host work are the queue's own
/// business.
Status ExecuteTask(Task& task, QueueScheduler& scheduler);

/// Whether executing the task takes no longer than handing it to another thread would.
bool IsShort(const Task& task);

}  // namespace sampan::emulated
