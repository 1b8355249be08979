// How much work the stress tests do, by how much slower the instrumentation makes them.
#pragma once

#include <cstddef>

namespace sampan::stress {

#if defined(__SANITIZE_THREAD__)
inline constexpr int kSlowdown = 10;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int kSlowdown = 3;
#else
inline constexpr int kSlowdown = 1;
#endif

inline constexpr int kThreads = 6;
inline constexpr int kDevices = 2;

/// How often to do something that is worth doing `count` times in a short run without instrumentation.
constexpr int Scaled(int count) {
  constexpr int kEffort = 5;
  const int scaled = count * kEffort / kSlowdown;
  return scaled > 2 ? scaled : 2;
}

}  // namespace sampan::stress
