// How much work the stress tests do, by how much slower the instrumentation makes them.
#pragma once

#include <cstddef>
#include <cstdlib>

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
/// Under a chosen schedule one task runs at a time, so fewer rounds see all that rounds can see.
inline int Scaled(int count) {
  const int effort = std::getenv("SAMPAN_SCHEDULE") != nullptr ? 2 : 5;
  const int scaled = count * effort / kSlowdown;
  return scaled > 2 ? scaled : 2;
}

}  // namespace sampan::stress
