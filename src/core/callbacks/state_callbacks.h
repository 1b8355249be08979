// The program's callbacks for events of devices, streams and tasks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backend/api/queue_label.h"
#include "base/error/status.h"
#include "base/threads/fork_lock.h"
#include "base/threads/threads.h"

namespace sampan::core {

/// Functions by name; the last one registered under a name is used. Lives until the process exits.
/// Thread-safe. Functions are called with no lock held, on the thread that causes the event.
template <typename Function>
class NamedCallbacks {
 public:
  /// A null function removes the registration.
  void Set(const std::string& name, Function function, void* argument) {
    const std::lock_guard lock(mutex_);
    if (function == nullptr) {
      entries_.erase(name);
    } else {
      entries_[name] = {function, argument};
    }
    any_.store(!entries_.empty());
  }
  struct Entry {
    Function function;
    void* argument;
  };
  std::vector<Entry> All() const {
    std::vector<Entry> all;
    if (!any_.load(std::memory_order_relaxed)) return all;
    const std::lock_guard lock(mutex_);
    for (const auto& entry : entries_)
      all.push_back(entry.second);
    return all;
  }

 private:
  mutable ForkLock mutex_{ForkLock::Rank::kLeaf};
  std::map<std::string, Entry> entries_;
  std::atomic<bool> any_{false};
};

/// A task that failed.
struct TaskFailure {
  std::uint32_t task = 0, stream = 0, thread = 0, device = 0, code = 0;
  QueueLabel queue{};        ///< of the stream, for observers
  std::uint64_t number = 0;  ///< in the queue
};

/// Calls the registered functions for every failed task, one after the other, on a thread of its own. The
/// thread has the signal mask of host functions. Thread-safe; the destructor waits for the running function.
class FailureReports {
 public:
  using Function = void (*)(const TaskFailure& failure, void* argument);
  FailureReports() = default;
  ~FailureReports();
  FailureReports(const FailureReports&) = delete;
  FailureReports& operator=(const FailureReports&) = delete;

  /// `argument` identifies the registration.
  void Add(Function function, void* argument);
  /// Returns false if there is none. On return the function does not run, unless it made this call itself.
  bool Remove(void* argument);
  bool any() const { return any_.load(std::memory_order_relaxed); }
  /// Queues the notification. Cheap if no function is registered. Without memory the notification is lost.
  void Report(const TaskFailure& failure) noexcept;
  /// Waits until earlier reports are delivered. Limited in time, because a function may wait for the caller.
  /// Returns at once on the delivering thread.
  void Await() noexcept;

 private:
  struct Registration {
    Function function;
    void* argument;
  };
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Registration> registered_;
  std::atomic<bool> any_{false};
  std::deque<TaskFailure> news_;
  bool telling_ = false;
  bool stopping_ = false;
  Thread thread_;
};

}  // namespace sampan::core
