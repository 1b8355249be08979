// Ends a fuzzed process whose input broke a promise of the library.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace sampan::fuzz {

/// The fuzzer and the replay report the input that was running.
[[noreturn]] inline void FailInput(const char* what, long long value = 0) {
  std::fprintf(stderr, "violation: %s (%lld)\n", what, value);
  std::abort();
}

}  // namespace sampan::fuzz
