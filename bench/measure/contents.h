// What is in the memory that is copied: random bytes, random places, and the first byte that is wrong.
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

/// The numbers below `count` in a random order in which none is followed by the next one.
std::vector<std::size_t> ShuffledApart(std::size_t count, std::uint64_t seed);

/// The offset of the first byte that is not as expected; nothing if all are. Both are equally long.
std::optional<std::size_t> FirstDifference(std::span<const std::byte> found,
                                           std::span<const std::byte> expected);

/// "is 7 and should be 9", for that offset.
std::string DifferenceText(std::byte found, std::byte expected);

}  // namespace bench
