// The dispatcher behind a handle: settings, observer, and the commands that wait for a launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "hccl/dispatcher/command_submit.h"
#include "hccl/traced_call.h"

namespace sampan::hccl {

/// Thread-safe. Owned by the table of dispatchers, which closes and reopens it and never frees it.
class Dispatcher {
 public:
  Dispatcher() = default;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  /// Opens it with default settings.
  void Open(DispatcherType type);
  /// Reports commands that were never launched.
  void Close();

  /// A virtual dispatcher only stores records in streams.
  bool is_virtual() const { return is_virtual_.load(std::memory_order_relaxed); }

  void set_wait_mode(SyncMode mode) { wait_mode_.store(mode); }
  SyncMode wait_mode() const { return wait_mode_.load(); }
  void set_exec_seconds(u32 seconds) { exec_seconds_.store(seconds); }
  /// The time limit of a wait in seconds, from the caller's value and the modes; 0: no limit.
  u32 WaitSeconds(u32 given) const;
  void SetObserver(void* user, LoadTaskCallBack callback);

  /// Submits a command, or holds it for the launch.
  template <typename Command>
  HcclResult Submit(const Command& command, ::hccl::Stream& stream) {
    if (is_holding() && Hold(command, stream)) return HCCL_SUCCESS;
    return SubmitNow(command, stream);
  }
  /// Submits a command even while others are held.
  template <typename Command>
  HcclResult SubmitNow(const Command& command, ::hccl::Stream& stream) {
    if (!is_observed_.load(std::memory_order_relaxed) && !IsWatched()) [[likely]]
      return SubmitCommand(command, stream.ptr(), nullptr);
    return SubmitWatched(command, stream);
  }

  std::size_t held_count() const {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  bool is_holding() const { return is_holding_.load(std::memory_order_acquire); }

  /// Holds commands from here on. Commands that are still held are lost, and reported.
  void BeginLaunch();
  /// Submits all held commands: behind all work of the main stream, and ahead of its later work.
  HcclResult Launch(void* main_stream);
  /// Stops holding. Commands that are still held are lost, and reported.
  void EndLaunch(const char* because);

 private:
  /// Returns false if the launch has ended meanwhile.
  template <typename Command>
  bool Hold(const Command& command, ::hccl::Stream& stream);
  template <typename Command>
  HcclResult SubmitWatched(const Command& command, ::hccl::Stream& stream);
  /// A watch that reports to the observer.
  SubmissionWatch WatchOf(::hccl::Stream& stream) const;
  /// Reports the held command with this index, counted from 0.
  void ObserveHeld(::hccl::TaskPara record, u32 index, ::hccl::Stream& stream) const;
  /// Warns once for each pair of links if the caller's link is not the one between the addresses.
  void CheckRoute(const CopyCommand& copy);
  template <typename Command>
  void CheckRoute(const Command&) {}

  std::atomic<bool> is_virtual_{false};
  std::atomic<bool> is_holding_{false};
  std::atomic<bool> is_observed_{false};
  std::atomic<SyncMode> wait_mode_{SyncMode::DEFAULT_TIMEWAITSYNCMODE};
  std::atomic<u32> exec_seconds_{NOTIFY_DEFAULT_WAIT_TIME};
  mutable std::mutex mutex_;  // guards what follows
  void* observer_user_ = nullptr;
  LoadTaskCallBack observer_ = nullptr;
  std::vector<HeldCommand> held_;
  std::set<std::pair<::hccl::LinkType, ::hccl::LinkType>> warned_routes_;
};

}  // namespace sampan::hccl
