// The memory that a task accesses.
#pragma once

#include <vector>

#include "backend/api/task.h"
#include "check/order/access_history.h"
#include "observe/observer.h"

namespace sampan::check {

/// What a task does to memory that the runtime knows. Pageable memory is left out.
struct TaskAccesses {
  std::vector<TaskAccess> all;
  bool pageable = false;  ///< it also accesses pageable memory
  bool fills = false;
};

/// Entries of a batch have their index if the call is a batch.
TaskAccesses AccessesOf(const Task& task, bool is_batch_call);
/// The word that the task writes or waits for.
void AddWord(const observe::Submission& submission, TaskAccesses& accesses);

}  // namespace sampan::check
