// A bounded busy wait for events that are expected within microseconds.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time/clock.h"

namespace sampan {

inline void CpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until `ready()` is true or the time is over. Returns the last `ready()`. Each check slows down the
/// thread that makes it ready, because both use one cache line. So there are `kPausesPerCheck` pauses between
/// two checks.
template <int kPausesPerCheck = 8, typename Ready>
bool SpinFor(std::chrono::nanoseconds time, Ready ready) {
  const Deadline end = Clock::now() + time;
  while (!ready()) {
    for (int pause = 0; pause < kPausesPerCheck; ++pause)
      CpuRelax();
    if (Clock::now() >= end) return ready();
  }
  return true;
}

/// Spins before its thread sleeps, while that mostly saves the sleep. What it waits for may need the same
/// core: each spin in vain doubles the number of times that it is left out. Used by one thread at a time.
class TriedSpin {
 public:
  template <typename Ready>
  bool operator()(std::chrono::nanoseconds time, Ready ready) {
    if (left_out_ > 0) {
      --left_out_;
      return ready();
    }
    const bool is_ready = SpinFor<1>(time, ready);
    next_left_out_ = is_ready ? 1 : std::min(2 * next_left_out_, kMaxLeftOut);
    left_out_ = is_ready ? 0 : next_left_out_;
    return is_ready;
  }

 private:
  static constexpr int kMaxLeftOut = 64;
  int left_out_ = 0, next_left_out_ = 1;
};

}  // namespace sampan
