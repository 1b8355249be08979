// FreeRanges against a map of bytes.
#include "base/containers/free_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace sampan::free_ranges_test {
namespace {

using Range = FreeRanges::Range;
using Align = FreeRanges::Align;

constexpr std::size_t kBytes = 512, kAlignment = 16;
// Two ranges that touch, as chunks of a pool do: no part crosses from one into the other.
constexpr Range kFirst{0, 320}, kSecond{320, 192};

/// The same as FreeRanges, one byte at a time.
class Model {
 public:
  /// The first part at or behind `from` that is free.
  std::optional<std::size_t> Find(std::size_t from, std::size_t bytes, std::size_t alignment) const {
    for (std::size_t at = (from + alignment - 1) / alignment * alignment; at + bytes <= kBytes;
         at += alignment) {
      const bool crosses = at < kSecond.begin && at + bytes > kSecond.begin;
      if (!crosses && std::none_of(taken_.begin() + static_cast<std::ptrdiff_t>(at),
                                   taken_.begin() + static_cast<std::ptrdiff_t>(at + bytes),
                                   [](bool each) { return each; })) {
        return at;
      }
    }
    return std::nullopt;
  }
  std::optional<std::size_t> FindNext(std::size_t bytes, std::size_t alignment) {
    auto found = Find(next_, bytes, alignment);
    if (!found) found = Find(0, bytes, alignment);
    if (found) next_ = *found + bytes;
    return found;
  }
  void Mark(const Range& part, bool taken) {
    std::fill_n(taken_.begin() + static_cast<std::ptrdiff_t>(part.begin), part.bytes, taken);
  }

 private:
  std::vector<bool> taken_ = std::vector<bool>(kBytes);
  std::size_t next_ = 0;
};

const Range& RangeAround(const Range& part) {
  return part.begin < kSecond.begin ? kFirst : kSecond;
}

TEST(FreeRanges, TakesWhatAModelTakes) {
  std::mt19937 random(20261115);
  FreeRanges ranges(kAlignment);
  ranges.Add(kFirst);
  ranges.Add(kSecond);
  Model model;
  std::vector<Range> parts;
  int refused = 0;
  for (int step = 0; step < 50000; ++step) {
    if (random() % 2 == 0) {
      const std::size_t bytes = 1 + random() % 60;
      std::optional<std::size_t> offset, wanted;
      switch (random() % 3) {
        case 0:
          offset = ranges.TakeLowest(bytes);
          wanted = model.Find(0, bytes, 1);
          break;
        case 1:
          offset = ranges.TakeNext(bytes);
          wanted = model.FindNext(bytes, 1);
          break;
        default:
          offset = ranges.TakeNext(bytes, Align::kAligned);
          wanted = model.FindNext(bytes, kAlignment);
      }
      ASSERT_EQ(offset, wanted) << "step " << step << ", " << bytes << " bytes";
      if (!offset) {
        ++refused;
        continue;
      }
      parts.push_back({*offset, bytes});
      model.Mark(parts.back(), true);
    } else if (!parts.empty()) {
      std::swap(parts[random() % parts.size()], parts.back());
      const Range part = parts.back();
      parts.pop_back();
      model.Mark(part, false);
      const Range free = ranges.Return(part, RangeAround(part));
      ASSERT_LE(free.begin, part.begin);
      ASSERT_GE(free.end(), part.end());
      ASSERT_EQ(model.Find(free.begin, free.bytes, 1), free.begin) << "step " << step;
    }
  }
  EXPECT_GT(refused, 100) << "the range was hardly ever full";
  for (const Range& part : parts)
    ranges.Return(part, RangeAround(part));
  EXPECT_EQ(ranges.TakeLowest(kFirst.bytes), kFirst.begin);
  EXPECT_EQ(ranges.TakeLowest(kSecond.bytes), kSecond.begin);
  EXPECT_EQ(ranges.TakeLowest(1), std::nullopt);
}

TEST(FreeRanges, TakeNextGoesRound) {
  FreeRanges ranges(64);
  ranges.Add({0, kBytes});
  const auto first = ranges.TakeNext(64, Align::kAligned);
  ranges.Return({*first, 64}, {0, kBytes});
  EXPECT_EQ(ranges.TakeNext(64, Align::kAligned), 64U) << "not the part that was just given back";
}

TEST(FreeRanges, TakeLowestLeavesTheRestWhole) {
  FreeRanges ranges;
  ranges.Add({0, kBytes});
  const auto first = ranges.TakeLowest(32);
  ASSERT_TRUE(ranges.TakeLowest(32));
  ranges.Return({*first, 32}, {0, kBytes});
  EXPECT_EQ(ranges.TakeLowest(16), first);
  EXPECT_EQ(ranges.TakeLowest(kBytes - 64), 64U);
}

TEST(FreeRanges, ARemovedRangeIsNotHandedOut) {
  FreeRanges ranges;
  ranges.Add(kFirst);
  ranges.Add(kSecond);
  ranges.Remove(kFirst);
  EXPECT_EQ(ranges.TakeLowest(1), kSecond.begin);
  EXPECT_EQ(ranges.TakeLowest(kSecond.bytes), std::nullopt);
}

}  // namespace
}  // namespace sampan::free_ranges_test
