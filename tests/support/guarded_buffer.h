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
    // A piece at a time, so that large buffers take no more memory than their own.
    const Bytes background(std::min(bytes, kPieceBytes), kBackground);
    for (std::size_t done = 0; done < bytes; done += background.size())
      Write(std::span(background).first(std::min(background.size(), bytes - done)), done);
    const Bytes guard(front_, kGuard);
    buffer_.Write(0, guard);
    buffer_.Write(front_ + bytes, std::span(guard).first(kGuardBytes));
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
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  ::testing::AssertionResult Check(std::span<const std::byte> payload) const {
    if (payload.size() != bytes_) return ::testing::AssertionFailure() << "expectation has the wrong size";
    // Looked at where it lies, if the host can: to copy a large buffer takes longer than to compare it.
    Bytes read;
    std::span<const std::byte> got(buffer_.at(0), buffer_.bytes());
    if (!IsHost(place())) got = read = buffer_.Read(0, buffer_.bytes());
    const Bytes guard(front_, kGuard);
    for (const auto& [part, offset, expected] :
         {Part{"guard in front", 0, guard}, Part{"payload", front_, payload},
          Part{"guard behind", front_ + bytes_, std::span(guard).first(kGuardBytes)}}) {
      ::testing::AssertionResult same = SameBytes(expected, got.subspan(offset, expected.size()));
      if (!same) return same << " (" << place() << ", " << part << ")";
    }
    return ::testing::AssertionSuccess();
  }

  struct Part {
    const char* name;
    std::size_t offset;
    std::span<const std::byte> expected;
  };

  std::size_t bytes_;
  std::size_t front_;
  Buffer buffer_;
};

}  // namespace sampan::test
