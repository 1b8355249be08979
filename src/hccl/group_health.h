// Whether a group of ranks is still whole, as one rank knows it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "base/status.h"
#include "hccl/hccl_types.h"
#include "hccl/wake_up.h"

namespace sampan::hccl {

/// Thread-safe. Shared by the membership, its links, and the signals that are queued in streams. It breaks
/// once and stays broken.
class GroupHealth {
 public:
  bool broken() const { return code_.load(std::memory_order_acquire) != HCCL_SUCCESS; }
  HcclResult code() const { return static_cast<HcclResult>(code_.load(std::memory_order_acquire)); }
  /// Why; only after broken() was true.
  std::string reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }
  /// What a task of a stream fails with; success while the group is whole.
  Status Check() const {
    if (!broken()) return {};
    return {Code::kTaskTimeout, reason()};
  }

  /// The others told of it. False when it was broken before.
  bool Break(HcclResult code, std::string reason);
  /// This rank noticed first: the others are to be told.
  void BreakHere(HcclResult code, std::string reason) noexcept;
  /// Whether there is something to tell; once.
  bool TakeNews() { return news_.exchange(false); }
  /// Wakes whoever tells.
  WakeUp& wake_up() { return wake_up_; }

 private:
  std::atomic<int> code_{HCCL_SUCCESS};
  std::atomic<bool> news_{false};
  mutable std::mutex mutex_;
  std::string reason_;  // under the mutex
  WakeUp wake_up_;
};

}  // namespace sampan::hccl
