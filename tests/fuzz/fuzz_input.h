// Reads choices from the bytes of a fuzz input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sampan::fuzz {

/// A cursor over the input; past its end everything is 0.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  std::uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  /// 0 to limit - 1.
  std::size_t Below(std::size_t limit) { return Byte() % limit; }
  std::uint16_t Short() { return static_cast<std::uint16_t>(Byte() | Byte() << 8); }
  std::uint64_t Long() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value |= std::uint64_t{Byte()} << (8 * i);
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace sampan::fuzz
