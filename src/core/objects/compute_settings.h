// What a program sets for the compute of its process. Only the limit of waits has an effect: no operator runs
// here.
#pragma once

#include <atomic>
#include <cstdint>

namespace sampan::core {

/// The time limits of operators are whole numbers of this unit, 2^32 ns, and at most 254 of them.
inline constexpr std::uint64_t kOperatorLimitUnitUs = 4'294'967;
inline constexpr std::uint64_t kMaxOperatorLimitUs = 254 * kOperatorLimitUnitUs;

/// Thread-safe.
struct ComputeSettings {
  std::atomic<std::uint32_t> event_wait_limit_s{0};  ///< of aclrtStreamWaitEvent; 0: none
  std::atomic<std::uint64_t> operator_limit_us{kMaxOperatorLimitUs};
  std::atomic<std::int32_t> overflow_mode{kNotSet};  ///< of the public enumeration
  std::atomic<bool> dump_open{false};
  std::atomic<bool> dump_explained{false};  ///< the log says that nothing is dumped

  static constexpr std::int32_t kNotSet = -1;
};

/// The bytes of an operator's binary, which a program describes and keeps. Immutable.
struct OperatorBinary {
  const void* data;
  std::uint64_t bytes;
};

}  // namespace sampan::core
