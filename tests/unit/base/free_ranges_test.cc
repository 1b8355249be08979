// FreeRanges against a map of bytes.
#include "base/free_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace sampan::free_ranges_test {
namespace {

constexpr std::size_t kBytes = 512;

TEST(FreeRanges, NeverOverlapAndFindWhatFits) {
  std::mt19937 random(20261115);
  FreeRanges ranges(kBytes);
  std::vector<bool> taken(kBytes);
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  const auto fits = [&](std::size_t bytes, std::size_t alignment) {
    for (std::size_t at = 0; at + bytes <= kBytes; at += alignment) {
      if (std::none_of(taken.begin() + at, taken.begin() + at + bytes, [](bool each) { return each; }))
        return true;
    }
    return false;
  };
  int refused = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0) {
      const std::size_t bytes = 1 + random() % 60;
      const std::size_t alignment = random() % 2 == 0 ? 1 : 16;
      const auto offset = alignment == 1 ? ranges.TakeSmallest(bytes) : ranges.TakeNext(bytes, alignment);
      ASSERT_EQ(offset.has_value(), fits(bytes, alignment)) << "step " << step;
      if (!offset) {
        ++refused;
        continue;
      }
      ASSERT_EQ(*offset % alignment, 0U);
      ASSERT_LE(*offset + bytes, kBytes);
      for (std::size_t i = *offset; i < *offset + bytes; ++i) {
        ASSERT_FALSE(taken[i]) << "step " << step;
        taken[i] = true;
      }
      parts.emplace_back(*offset, bytes);
    } else if (!parts.empty()) {
      std::swap(parts[random() % parts.size()], parts.back());
      const auto [offset, bytes] = parts.back();
      parts.pop_back();
      ranges.Return(offset, bytes);
      std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(offset), bytes, false);
    }
    ASSERT_EQ(ranges.AllFree(), parts.empty());
  }
  EXPECT_GT(refused, 100) << "the range was hardly ever full";
  for (const auto& [offset, bytes] : parts)
    ranges.Return(offset, bytes);
  EXPECT_TRUE(ranges.AllFree());
  EXPECT_EQ(ranges.TakeSmallest(kBytes), 0U);
}

TEST(FreeRanges, TakeNextGoesRound) {
  FreeRanges ranges(kBytes);
  const auto first = ranges.TakeNext(64, 64);
  ranges.Return(*first, 64);
  EXPECT_EQ(ranges.TakeNext(64, 64), 64U) << "not the part that was just given back";
}

TEST(FreeRanges, TakeSmallestLeavesTheLargeOnesWhole) {
  FreeRanges ranges(kBytes);
  const auto first = ranges.TakeSmallest(32);
  ASSERT_TRUE(ranges.TakeSmallest(32));
  ranges.Return(*first, 32);
  EXPECT_EQ(ranges.TakeSmallest(16), first);
}

}  // namespace
}  // namespace sampan::free_ranges_test
