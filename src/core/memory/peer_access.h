// Which device may access which other device's memory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/error/assert.h"

namespace sampan::core {

inline constexpr std::int32_t kMaxDevices = 64;

/// Access is one-directional, as in the public calls. Thread-safe.
class PeerAccess {
 public:
  bool Enabled(std::int32_t from, std::int32_t to) const {
    SAMPAN_ASSERT(IsDevice(from) && IsDevice(to));
    return from == to || (bits_[static_cast<std::size_t>(from)].load() >> to & 1) != 0;
  }
  void Enable(std::int32_t from, std::int32_t to) { bits_[static_cast<std::size_t>(from)].fetch_or(Bit(to)); }
  void Disable(std::int32_t from, std::int32_t to) {
    bits_[static_cast<std::size_t>(from)].fetch_and(~Bit(to));
  }
  void DisableAllFrom(std::int32_t from) { bits_[static_cast<std::size_t>(from)].store(0); }

 private:
  static bool IsDevice(std::int32_t id) { return id >= 0 && id < kMaxDevices; }
  static std::uint64_t Bit(std::int32_t device) { return std::uint64_t{1} << device; }
  std::array<std::atomic<std::uint64_t>, kMaxDevices> bits_{};
};

}  // namespace sampan::core
