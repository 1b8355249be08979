// Threads of the runtime that call a program's host functions.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "backend/api/task.h"
#include "base/threads/threads.h"

namespace sampan::core {

/// Host functions may wait for one another, so each running function has a thread of its own. Idle threads
/// are reused. All have the same signal mask, RuntimeThreadMask. Thread-safe. The destructor waits for
/// running functions.
class HostThreads {
 public:
  HostThreads() = default;
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  /// Makes the function a work item for a queue.
  std::shared_ptr<HostWork> MakeWork(void (*function)(void*), void* argument);

 private:
  void Run(std::function<void()> job);
  /// Where races are looked for: a thread that is reused would order functions of different streams, and
  /// their frames would lie on one stack.
  static void RunOnNewThread(std::function<void()> job);
  void Loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::vector<Thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace sampan::core
