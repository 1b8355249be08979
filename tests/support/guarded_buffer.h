// Copy ends with guard bytes on both sides, so that a byte too many is seen.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "tests/support/memory_buffer.h"
#include "tests/support/random_bytes.h"

namespace sampan::test {

/// Equal contents; otherwise where they first differ.
inline ::testing::AssertionResult SameBytes(std::span<const std::byte> expected,
                                            std::span<const std::byte> got) {
  if (expected.size() != got.size()) {
    return ::testing::AssertionFailure() << got.size() << " bytes instead of " << expected.size();
  }
  if (expected.empty() || std::memcmp(expected.data(), got.data(), got.size()) == 0) {
    return ::testing::AssertionSuccess();
  }
  const auto at = std::mismatch(expected.begin(), expected.end(), got.begin()).first - expected.begin();
  const auto index = static_cast<std::size_t>(at);
  return ::testing::AssertionFailure()
         << "byte " << index << " of " << got.size() << " is " << std::to_integer<int>(got[index])
         << " instead of " << std::to_integer<int>(expected[index]) << " (seed " << TestSeed() << ")";
}

/// A payload between guards, at a chosen misalignment; everything starts out as background bytes.
class GuardedBuffer {
 public:
  static constexpr std::size_t kGuardBytes = 128;
  static constexpr std::byte kGuard{0xA7};
  static constexpr std::byte kBackground{0x5C};

  GuardedBuffer(Place place, std::size_t bytes, std::size_t misalignment = 0)
      : bytes_(bytes), front_(kGuardBytes + misalignment), buffer_(place, front_ + bytes + kGuardBytes) {
    Bytes contents(buffer_.bytes(), kGuard);
    std::fill_n(contents.begin() + static_cast<std::ptrdiff_t>(front_), bytes, kBackground);
    buffer_.Write(0, contents);
  }

  Place place() const { return buffer_.place(); }
  std::size_t bytes() const { return bytes_; }
  void* data() const { return buffer_.at(front_); }
  std::byte* at(std::size_t offset) const { return buffer_.at(front_ + offset); }
  const Buffer& buffer() const { return buffer_; }

  void Write(std::span<const std::byte> contents, std::size_t offset = 0) const {
    buffer_.Write(front_ + offset, contents);
  }
  Bytes Read() const { return buffer_.Read(front_, bytes_); }

  ::testing::AssertionResult GuardsIntact() const { return Check(Read()); }
  /// The payload is exactly this, and the guards are intact.
  ::testing::AssertionResult Holds(std::span<const std::byte> expected) const { return Check(expected); }
  /// Nothing was ever written.
  ::testing::AssertionResult Untouched() const { return Check(Bytes(bytes_, kBackground)); }

 private:
  ::testing::AssertionResult Check(std::span<const std::byte> payload) const {
    Bytes expected(buffer_.bytes(), kGuard);
    if (payload.size() != bytes_) return ::testing::AssertionFailure() << "expectation has the wrong size";
    std::copy(payload.begin(), payload.end(), expected.begin() + static_cast<std::ptrdiff_t>(front_));
    return SameBytes(expected, buffer_.Read(0, buffer_.bytes()))
           << " (" << place() << ", payload from byte " << front_ << ")";
  }

  std::size_t bytes_;
  std::size_t front_;
  Buffer buffer_;
};

}  // namespace sampan::test
