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

/// Waits until `ready()` holds or the time is over; says which.
template <typename Ready>
bool SpinFor(std::chrono::nanoseconds time, Ready ready) {
  constexpr int kLooksPerClockRead = 32;
  const Deadline end = Clock::now() + time;
  do {
    for (int look = 0; look < kLooksPerClockRead; ++look) {
      if (ready()) return true;
      CpuRelax();
    }
  } while (Clock::now() < end);
  return false;
}

}  // namespace sampan
