// The task that the calling thread executes, for messages about faults.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/api/queue_label.h"
#include "backend/api/task.h"

namespace sampan {

struct RunningTask {
  const Task* task;
  QueueLabel queue;          ///< of a stream; number 0 for a blocking call
  std::uint64_t number = 0;  ///< in the queue
};

namespace internal {
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const RunningTask* running_task = nullptr;
}  // namespace internal

/// The calling thread's task. Null if there is none, and for short copies that the submitter executes. Safe
/// in a signal handler.
inline const RunningTask* ThisThreadsTask() noexcept {
  return internal::running_task;
}

/// While it exists, the task is the calling thread's. Costs a few stores.
class TaskRuns {
 public:
  explicit TaskRuns(const RunningTask* task) noexcept : before_(internal::running_task) { Set(task); }
  ~TaskRuns() { Set(before_); }
  TaskRuns(const TaskRuns&) = delete;
  TaskRuns& operator=(const TaskRuns&) = delete;

 private:
  static void Set(const RunningTask* task) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    internal::running_task = task;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the copy, which may fault, comes after the store
  }

  const RunningTask* const before_;
};

}  // namespace sampan
