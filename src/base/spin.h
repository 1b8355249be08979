// A bounded busy wait, for events that are expected within microseconds.
#pragma once

#include "base/clock.h"

namespace sampan {

inline void CpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until `ready()` holds or the time is over; says which. Whoever makes it ready writes what is looked
/// at, and is slowed down by every look: `kPausesPerLook` is how patient the waiter is.
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
