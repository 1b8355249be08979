// Random contents that a printed seed repeats: TEST_SEED=N runs with the same bytes again.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace sampan::test {

using Bytes = std::vector<std::byte>;

/// The seed of this run; printed the first time it is asked for.
inline std::uint64_t TestSeed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("TEST_SEED");
    const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::printf("[ TEST_SEED=%llu ]\n", static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

/// A generator that depends on the run's seed alone, not on which tests ran before. One thread.
class Random {
 public:
  Random() : state_(TestSeed()) {
    const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
    if (test == nullptr) return;
    for (const std::string_view name :
         {std::string_view(test->test_suite_name()), std::string_view(test->name())}) {
      for (const char letter : name)
        state_ = (state_ ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
    }
  }

  std::uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t value = state_;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31);
  }

  /// From `min` to `max`, both included.
  std::size_t Between(std::size_t min, std::size_t max) { return min + Next() % (max - min + 1); }

  Bytes Fill(std::size_t bytes) {
    Bytes contents(bytes);
    std::size_t done = 0;
    for (; done + sizeof(std::uint64_t) <= bytes; done += sizeof(std::uint64_t)) {
      const std::uint64_t word = Next();
      std::memcpy(contents.data() + done, &word, sizeof(word));
    }
    const std::uint64_t word = Next();
    if (done < bytes) std::memcpy(contents.data() + done, &word, bytes - done);
    return contents;
  }

 private:
  std::uint64_t state_;
};

}  // namespace sampan::test
