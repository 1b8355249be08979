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

/// Waits until `ready()` holds or the time is over; says which. It looks a few times a microsecond: whoever
/// makes it ready writes what is looked at, and would be slowed down by looks without a pause.
template <typename Ready>
bool SpinFor(std::chrono::nanoseconds time, Ready ready) {
  constexpr int kPausesPerLook = 8;
  const Deadline end = Clock::now() + time;
  while (!ready()) {
    for (int pause = 0; pause < kPausesPerLook; ++pause)
      CpuRelax();
    if (Clock::now() >= end) return ready();
  }
  return true;
}

}  // namespace sampan
