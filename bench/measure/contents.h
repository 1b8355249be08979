// Contents of copied memory: random bytes, random places, and the first wrong byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

using Bytes = std::vector<std::byte>;

/// Pseudo-random contents; the same for the same seed.
void FillRandom(std::span<std::byte> memory, std::uint64_t seed);
Bytes RandomBytes(std::size_t bytes, std::uint64_t seed);

/// The numbers below `count` in a random order. No number is followed by its successor.
std::vector<std::size_t> ShuffledApart(std::size_t count, std::uint64_t seed);

/// The offset of the first byte that differs, or nothing. Both have the same length.
std::optional<std::size_t> FirstDifference(std::span<const std::byte> found,
                                           std::span<const std::byte> expected);

/// "is 7 and should be 9", for that offset.
std::string DifferenceText(std::byte found, std::byte expected);

}  // namespace bench
