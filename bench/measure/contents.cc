// Contents of copied memory: random bytes, random places, and the first wrong byte.
#include "bench/measure/contents.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace bench {

void FillRandom(std::span<std::byte> memory, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t at = 0; at < memory.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(memory.data() + at, &word, std::min(memory.size() - at, sizeof(word)));
  }
}

Bytes RandomBytes(std::size_t bytes, std::uint64_t seed) {
  Bytes contents(bytes);
  FillRandom(contents, seed);
  return contents;
}

std::vector<std::size_t> ShuffledApart(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  const auto follows = [](std::size_t one, std::size_t other) { return other == one + 1; };
  do {
    std::shuffle(order.begin(), order.end(), random);
  } while (std::adjacent_find(order.begin(), order.end(), follows) != order.end());
  return order;
}

std::optional<std::size_t> FirstDifference(std::span<const std::byte> found,
                                           std::span<const std::byte> expected) {
  const auto at = std::mismatch(found.begin(), found.end(), expected.begin()).first;
  if (at == found.end()) return std::nullopt;
  return static_cast<std::size_t>(at - found.begin());
}

std::string DifferenceText(std::byte found, std::byte expected) {
  return "is " + std::to_string(std::to_integer<int>(found)) + " and should be " +
         std::to_string(std::to_integer<int>(expected));
}

}  // namespace bench
