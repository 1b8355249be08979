// Rounds sizes to multiples of a unit.
#pragma once

#include <cstddef>

namespace sampan {

/// The unit of device memory, the same on every host. The host's own pages may be larger: HostPageBytes.
inline constexpr std::size_t kDevicePageBytes = 4096;

constexpr std::size_t DivideUp(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit;
}
constexpr std::size_t RoundDown(std::size_t value, std::size_t unit) {
  return value / unit * unit;
}
constexpr std::size_t RoundUp(std::size_t value, std::size_t unit) {
  return DivideUp(value, unit) * unit;
}

}  // namespace sampan
