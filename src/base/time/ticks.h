// The processor's cycle counter: a cheap way to measure microseconds roughly.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace sampan {

/// Counts about as fast as the processor's clock. Always 0 if there is no such counter.
inline std::uint64_t ProcessorTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

}  // namespace sampan
