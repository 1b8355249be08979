// What the library knows for the whole process.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "base/handle_table.h"
#include "hccl/dispatcher_object.h"

namespace sampan::plf {

using TaskCallBack = HcclResult (*)(const HcclDispatcher&, hccl::Stream&);

inline u64 NowNs() {
  return static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// Thread-safe. One for the process, never destroyed: streams may still run when the process ends.
class Platform {
 public:
  void* Add(std::shared_ptr<Dispatcher> dispatcher) { return dispatchers_.Insert(std::move(dispatcher)); }
  std::shared_ptr<Dispatcher> Find(HcclDispatcher handle) const { return dispatchers_.Find(handle); }
  std::shared_ptr<Dispatcher> Remove(HcclDispatcher handle) { return dispatchers_.Remove(handle); }

  std::atomic<TaskCallBack>& init_callback() { return init_callback_; }
  std::atomic<TaskCallBack>& launch_callback() { return launch_callback_; }
  /// Runs a callback, if there is one, and keeps what it answers.
  HcclResult Call(const std::atomic<TaskCallBack>& callback, const HcclDispatcher& handle,
                  hccl::Stream& stream);
  HcclResult callback_result() const { return callback_result_.load(); }

  void force_profiling(bool on) { profiling_forced_.store(on); }
  bool profiling_forced() const { return profiling_forced_.load(); }

  /// The most bytes of one task.
  u64 most_task_bytes() const { return most_task_bytes_; }

 private:
  HandleTable<Dispatcher, HandleKind::kDispatcher> dispatchers_;
  std::atomic<TaskCallBack> init_callback_{nullptr}, launch_callback_{nullptr};
  std::atomic<HcclResult> callback_result_{HCCL_SUCCESS};
  std::atomic<bool> profiling_forced_{false};
  const u64 most_task_bytes_ = HCCL_SDMA_MAX_COUNT_4GB;
};

Platform& ThePlatform();

}  // namespace sampan::plf
