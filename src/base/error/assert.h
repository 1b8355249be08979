// Checks of preconditions and invariants. On in the presets dev, asan and tsan; compiled out in release.
#pragma once

#if defined(SAMPAN_ASSERTIONS)
#include <cstdio>
#include <cstdlib>

namespace sampan {

/// Prints the condition that does not hold and aborts.
[[noreturn, gnu::cold, gnu::noinline]] inline void FailAssertion(const char* condition, const char* file,
                                                                 int line) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace sampan

#define SAMPAN_ASSERT(condition) \
  (static_cast<bool>(condition) ? void() : ::sampan::FailAssertion(#condition, __FILE__, __LINE__))
#else
#define SAMPAN_ASSERT(condition) (false && static_cast<bool>(condition) ? void() : void())
#endif
