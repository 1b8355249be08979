// The queues that stand before gates, and the thread that sees the gates open.
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

/// A queue at its gate: the task with that value holds it back.
struct Standing {
  std::shared_ptr<Gate> gate;
  Deadline deadline;
  std::weak_ptr<EmulatedQueue> queue;
  std::uint64_t value;
  Deadline since = Clock::now();
};

/// Thread-safe. Its thread sleeps on the words of all gates at once, and executes what is short behind a gate
/// itself: another hand-over would cost as much as the signal. Without a thread, the scheduler calls Look.
class GateWatch {
 public:
  enum class Watching { kByThread, kByCallers };
  explicit GateWatch(Watching watching) : watching_(watching) {}
  ~GateWatch();
  GateWatch(const GateWatch&) = delete;
  GateWatch& operator=(const GateWatch&) = delete;

  /// Starts the thread if there is to be one and it does not run yet. Throws ThreadStartError.
  void Start();
  /// Lets the queue go on once its gate is open, can never open, or the time is over. Throws with nothing
  /// changed. The thread must have been started: the engines that call this cannot report a failure.
  void Add(Standing standing);
  /// Lets those go on that can. True when there was one.
  bool Look();

 private:
  void Loop();
  /// Removes queues that can go on, and queues that no longer wait.
  std::vector<Standing> TakeReady();
  /// Sleeps until a word changes, a queue is added, or the next check is due.
  void Sleep();

  const Watching watching_;
  std::mutex mutex_;
  std::vector<Standing> standing_;  // in the order in which they came
  Deadline next_check_{};           // when gates are asked again whether they can open
  Thread thread_;
  std::atomic<bool> started_{false};  // the thread
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> count_{0};
  SleepWord changed_;  // the list, or the wish to end
};

}  // namespace sampan::emulated
