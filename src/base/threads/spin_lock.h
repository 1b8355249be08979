// A lock that is held for only a few instructions. Taking it is one atomic operation, releasing it a plain
// store.
#pragma once

#include <sched.h>

#include <atomic>

#include "base/threads/spin.h"

namespace sampan {

/// Works with std::lock_guard. A thread that waits long yields, because the owner may have lost its core.
class SpinLock {
 public:
  void lock() noexcept {
    while (taken_.exchange(true, std::memory_order_acquire))
      WaitUntilFree();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }
  /// For assertions.
  bool is_held() const noexcept { return taken_.load(std::memory_order_relaxed); }

 private:
  [[gnu::noinline]] void WaitUntilFree() noexcept {
    constexpr int kMaxSpins = 128;
    for (int look = 0; taken_.load(std::memory_order_relaxed); ++look) {
      if (look < kMaxSpins) {
        CpuRelax();
      } else {
        ::sched_yield();
      }
    }
  }

  std::atomic<bool> taken_{false};
};

}  // namespace sampan
