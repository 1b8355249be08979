// The dispatcher behind a handle: settings, observer, and the work that waits for a launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "hccl/task.h"
#include "hccl/task_submit.h"

namespace sampan::plf {

/// Thread-safe. Found by its handle; a call in progress keeps it alive.
class Dispatcher {
 public:
  explicit Dispatcher(DispatcherType type) : virtual_(type == DispatcherType::DISPATCHER_VIRTURAL) {}
  /// Says what was never launched.
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  /// Leaves records in streams and does nothing else.
  bool is_virtual() const { return virtual_; }

  void set_wait_mode(SyncMode mode) { wait_mode_.store(mode); }
  SyncMode wait_mode() const { return wait_mode_.load(); }
  void set_exec_seconds(u32 seconds) { exec_seconds_.store(seconds); }
  /// Seconds that a wait may take, of those that the caller gave and the modes; 0 has no end.
  u32 WaitSeconds(u32 given) const;
  void SetObserver(void* user, LoadTaskCallBack callback);

  /// Into the stream, or to what waits for the launch.
  HcclResult Submit(const Task& task);
  /// The same past a launch: into the stream at once.
  HcclResult SubmitNow(const Task& task);
  /// How many tasks wait for the launch.
  std::size_t held() const {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  bool holding() const { return holding_.load(std::memory_order_acquire); }

  /// From here on work waits; what still waits is lost, and said to be.
  void BeginLaunch();
  /// Gives everything to the streams: after what the main stream has, and before what it gets from now on.
  HcclResult Launch(void* main_stream);
  /// Ends waiting; what still waits is lost, and said to be.
  void EndLaunch(const char* because);

 private:
  void Observe(hccl::TaskPara para) const;
  void ObserveHeld(const Task& task, u32 place) const;
  /// One piece that the runtime has accepted.
  void Accepted(const hccl::TaskPara& para) const;
  /// Whether the caller's link type is what the addresses say; a contradiction is told once.
  void CheckRoute(const CopyTask& copy);
  static void Lost(std::size_t tasks, const char* because);

  const bool virtual_;
  std::atomic<SyncMode> wait_mode_{SyncMode::DEFAULT_TIMEWAITSYNCMODE};
  std::atomic<u32> exec_seconds_{NOTIFY_DEFAULT_WAIT_TIME};
  std::atomic<bool> holding_{false};
  mutable std::mutex mutex_;  // of what follows
  void* observer_user_ = nullptr;
  LoadTaskCallBack observer_ = nullptr;
  std::vector<Task> held_;
  std::set<std::pair<hccl::LinkType, hccl::LinkType>> told_routes_;
};

}  // namespace sampan::plf
