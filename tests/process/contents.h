// Bytes that a seed alone determines, the same in every process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/support/random_bytes.h"

namespace sampan::test {

inline Bytes Contents(std::uint64_t seed, std::size_t bytes) {
  Bytes contents(bytes);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 1;
  for (std::byte& each : contents) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    each = static_cast<std::byte>(state >> 56);
  }
  return contents;
}

}  // namespace sampan::test
