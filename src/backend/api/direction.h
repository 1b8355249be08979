// The direction of a copy.
#pragma once

#include <cstdint>

namespace sampan {

/// Has the numbers of the first four copy kinds of the public header.
enum class Direction : std::uint8_t { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice };

constexpr Direction DirectionOf(bool dst_on_device, bool src_on_device) {
  if (src_on_device) return dst_on_device ? Direction::kDeviceToDevice : Direction::kDeviceToHost;
  return dst_on_device ? Direction::kHostToDevice : Direction::kHostToHost;
}

/// Between the host and a device.
constexpr bool IsOverLink(Direction direction) {
  return direction == Direction::kHostToDevice || direction == Direction::kDeviceToHost;
}

}  // namespace sampan
