// A lock that may be held for long. Taking and releasing are one inlined atomic operation each, because every
// copy does both. A thread that has to wait sleeps.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/threads/futex.h"
#include "base/threads/spin.h"

namespace sampan {

/// Works with std::unique_lock and std::condition_variable_any.
class ParkingLock {
 public:
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      LockLater();
  }
  bool try_lock() noexcept {
    std::uint32_t state = kFree;
    return state_.compare_exchange_strong(state, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() noexcept {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) [[unlikely]]
      FutexWake(state_);
  }
  /// For assertions.
  bool is_held() const noexcept { return state_.load(std::memory_order_relaxed) != kFree; }

 private:
  static constexpr std::uint32_t kFree = 0, kTaken = 1, kAwaited = 2;

  [[gnu::noinline]] void LockLater() noexcept {
    constexpr int kMaxSpins = 128;
    for (int look = 0; look < kMaxSpins; ++look) {
      if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
      CpuRelax();
    }
    // Sets kAwaited even if no thread sleeps now: the new owner must wake any thread that slept meanwhile.
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree)
      FutexSleep(std::array{FutexWait{&state_, kAwaited}}, kNever);
  }

  std::atomic<std::uint32_t> state_{kFree};
};

}  // namespace sampan
