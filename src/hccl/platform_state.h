// The state of the library in this process.
#pragma once

#include <atomic>

#include "hccl/dispatcher/dispatcher_table.h"

namespace sampan::hccl {

using TaskCallBack = HcclResult (*)(const HcclDispatcher&, ::hccl::Stream&);

/// Thread-safe. Never destroyed: streams may still run when the process exits.
class Platform {
 public:
  DispatcherTable& dispatchers() { return dispatchers_; }

  std::atomic<TaskCallBack>& init_callback() { return init_callback_; }
  std::atomic<TaskCallBack>& launch_callback() { return launch_callback_; }
  /// Runs a callback, if there is one, and keeps the code that it returns.
  HcclResult Call(const std::atomic<TaskCallBack>& callback, const HcclDispatcher& handle,
                  ::hccl::Stream& stream);
  HcclResult callback_result() const { return callback_result_.load(); }

  void force_profiling(bool on) { is_profiling_forced_.store(on); }
  bool is_profiling_forced() const { return is_profiling_forced_.load(); }

 private:
  DispatcherTable dispatchers_;
  std::atomic<TaskCallBack> init_callback_{nullptr}, launch_callback_{nullptr};
  std::atomic<HcclResult> callback_result_{HCCL_SUCCESS};
  std::atomic<bool> is_profiling_forced_{false};
};

extern constinit Platform the_platform;
inline Platform& ThePlatform() {
  return the_platform;
}

}  // namespace sampan::hccl
