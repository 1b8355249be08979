// A bounded busy wait for events that are expected within microseconds.
#pragma once

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

}  // namespace sampan
