// Which task the calling thread executes, for the message about a fault.
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

/// The calling thread's; null while it executes none, and for short copies that their submitter executes.
/// Safe in a signal handler.
inline const RunningTask* ThisThreadsTask() noexcept {
  return internal::running_task;
}

/// While it lives, the task is the calling thread's. Costs a few stores.
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
    std::atomic_signal_fence(std::memory_order_seq_cst);  // a copy may fault: it stays between the stores
  }

  const RunningTask* const before_;
};

}  // namespace sampan
