// Whether a rank's group is broken, as far as the rank knows.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "base/error/status.h"
#include "hccl/group/wake_up.h"
#include "hccl/hccl_types.h"

namespace sampan::hccl {

/// Thread-safe. Shared by the membership, its links, and the signals that are queued in streams. It breaks
/// once and stays broken.
class GroupHealth {
 public:
  bool is_broken() const { return code_.load(std::memory_order_acquire) != HCCL_SUCCESS; }
  HcclResult code() const { return static_cast<HcclResult>(code_.load(std::memory_order_acquire)); }
  /// Why the group is broken; valid only if is_broken().
  std::string reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }
  /// The failure of tasks in streams; success while the group is not broken.
  Status Check() const {
    if (!is_broken()) return {};
    return {Code::kTaskTimeout, reason()};
  }

  /// Which rank detected it. kHere: the membership reports it to the other ranks.
  enum class Detected { kElsewhere, kHere };
  /// Returns false if the group was broken before.
  bool Break(HcclResult code, std::string reason, Detected detected = Detected::kElsewhere);
  /// Detected here; wakes the membership's thread for the report.
  void BreakHere(HcclResult code, std::string reason) noexcept;
  /// Returns true, once, if this rank has to report that the group is broken.
  bool TakeReport() {
    const std::lock_guard lock(mutex_);
    return std::exchange(has_report_, false);
  }
  /// Wakes the membership's thread.
  WakeUp& wake_up() { return wake_up_; }

 private:
  std::atomic<int> code_{HCCL_SUCCESS};
  mutable std::mutex mutex_;
  std::string reason_;       // under the mutex
  bool has_report_ = false;  // under it
  WakeUp wake_up_;
};

}  // namespace sampan::hccl
