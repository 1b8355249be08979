// The queues that gates hold, and the thread that detects open gates.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/api/gate.h"
#include "base/threads/threads.h"
#include "base/time/clock.h"

namespace sampan::emulated {

class EmulatedQueue;

/// A queue at its gate: the task with that number holds it back.
struct HeldQueue {
  std::shared_ptr<Gate> gate;
  Deadline deadline;
  std::weak_ptr<EmulatedQueue> queue;
  std::uint64_t number;
  Deadline since = Clock::now();
};

/// Thread-safe. Its thread sleeps on the words of all gates at once. It executes short tasks behind a gate
/// itself: another hand-over would cost as much as the signal. Without a thread, the scheduler calls
/// ResumeReady.
class GateWatch {
 public:
  enum class Watching { kByThread, kByCallers };
  explicit GateWatch(Watching watching) : watching_(watching) {}
  ~GateWatch();
  GateWatch(const GateWatch&) = delete;
  GateWatch& operator=(const GateWatch&) = delete;

  /// Starts the thread, if it should run and does not run yet. Throws ThreadStartError.
  void Start();
  /// Resumes the queue when its gate is open, can never open, or the time is over. If it throws, nothing has
  /// changed. The thread must have been started, because the engines that call this cannot report a failure.
  void Add(HeldQueue held);
  /// Resumes all queues that can continue. Returns true if there was one.
  bool ResumeReady();
  /// True on the thread that watches.
  bool IsWatch() const { return started_.load(std::memory_order_acquire) && thread_.IsCaller(); }

 private:
  void Loop();
  /// Removes queues that can continue, and queues that no longer wait.
  std::vector<HeldQueue> TakeReady();
  /// Sleeps until a word changes, a queue is added, or the next check is due.
  void Sleep();

  const Watching watching_;
  std::mutex mutex_;
  std::vector<HeldQueue> held_;  // in the order of arrival
  Deadline next_check_{};        // the time of the next check whether gates can still open
  Thread thread_;
  std::atomic<bool> started_{false};  // the thread
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> count_{0};
  SleepWord changed_;  // woken when the list changes or the thread has to stop
};

}  // namespace sampan::emulated
