// A thread that continues held queues when the reason for the hold is gone.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/threads/threads.h"
#include "base/time/clock.h"

namespace sampan::cuda {

class CudaQueue;

/// One for all devices. Thread-safe. Runs until the process exits.
class HoldWatch {
 public:
  HoldWatch() = default;
  ~HoldWatch();
  HoldWatch(const HoldWatch&) = delete;
  HoldWatch& operator=(const HoldWatch&) = delete;

  /// Starts the thread if it does not run yet. Throws ThreadStartError. Call it before the first queue is
  /// created, because the calls below cannot report a failure.
  void Start();
  /// Continues the queue soon. Does not block and does not call the driver, so callbacks of the driver may
  /// call it.
  void Wake(std::weak_ptr<CudaQueue> queue) noexcept;
  /// Checks the queue at that time.
  void WakeAt(Deadline time, std::weak_ptr<CudaQueue> queue);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::weak_ptr<CudaQueue>> awake_;
  std::multimap<Deadline, std::weak_ptr<CudaQueue>> later_;
  Thread thread_;
  bool stopping_ = false;
};

}  // namespace sampan::cuda
