// The processor's cycle counter: a cheap way to measure microseconds roughly.
#pragma once

#include <cstdint>

namespace sampan {

/// Counts about as fast as the processor's clock. Always 0 if there is no such counter.
inline std::uint64_t ProcessorTicks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // not by <x86intrin.h>: it would be the longest header of most files
#else
  return 0;
#endif
}

/// The same, after all earlier instructions have completed.
inline std::uint64_t ProcessorTicksInOrder() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#endif
  return ProcessorTicks();
}

}  // namespace sampan
