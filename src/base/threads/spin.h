// A bounded busy wait, for events that are expected within microseconds.
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

/// Waits until `ready()` holds or the time is over; returns whether it holds. Each check slows down the
/// thread that makes it ready, because both use one cache line. So `kPausesPerLook` pauses lie between two
/// checks.
template <int kPausesPerLook = 8, typename Ready>
bool SpinFor(std::chrono::nanoseconds time, Ready ready) {
  const Deadline end = Clock::now() + time;
  while (!ready()) {
    for (int pause = 0; pause < kPausesPerLook; ++pause)
      CpuRelax();
    if (Clock::now() >= end) return ready();
  }
  return true;
}

}  // namespace sampan
