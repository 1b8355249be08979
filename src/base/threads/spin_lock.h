// A lock for a few instructions at a time: one atomic operation to take, a plain store to give back.
#pragma once

#include <sched.h>

#include <atomic>

#include "base/threads/spin.h"

namespace sampan {

/// Works with std::lock_guard. A thread that waits so long that the holder may have lost its core yields its
/// own.
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
    constexpr int kPatience = 128;
    for (int look = 0; taken_.load(std::memory_order_relaxed); ++look) {
      if (look < kPatience) {
        CpuRelax();
      } else {
        ::sched_yield();
      }
    }
  }

  std::atomic<bool> taken_{false};
};

}  // namespace sampan
