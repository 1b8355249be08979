// The clock of all waits and deadlines: monotonic, in nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>

namespace sampan {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

inline constexpr Deadline kNever = Deadline::max();

inline std::int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace sampan
