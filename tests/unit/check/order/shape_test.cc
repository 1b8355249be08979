// Ranges and rows against sets of bytes.
#include "check/order/shape.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>

namespace sampan::check {
namespace {

std::set<std::uint64_t> BytesOf(const Shape& shape) {
  std::set<std::uint64_t> bytes;
  for (std::uint64_t at = shape.range.begin; at < shape.range.end; ++at) {
    if (!shape.is_rows() || (at - shape.range.begin) % shape.pitch < shape.width) bytes.insert(at);
  }
  return bytes;
}

Shape RandomShape(std::mt19937_64& random) {
  const auto upTo = [&](std::uint64_t limit) { return random() % limit; };
  const std::uint64_t begin = upTo(64);
  if (upTo(2) == 0) return {{begin, begin + 1 + upTo(32)}};
  const std::uint64_t width = 1 + upTo(6), pitch = width + 1 + upTo(6), rows = 1 + upTo(6);
  return {{begin, begin + (rows - 1) * pitch + width}, pitch, width};
}

TEST(Shape, FindsTheFirstCommonBytesOfAnyTwo) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20000; ++i) {
    const Shape one = RandomShape(random), other = RandomShape(random);
    const auto bytes = BytesOf(one), others = BytesOf(other);
    std::optional<std::uint64_t> first;
    for (const std::uint64_t byte : bytes) {
      if (!first && others.contains(byte)) first = byte;
    }
    const auto common = one.Common(other);
    ASSERT_EQ(common.has_value(), first.has_value());
    if (!common) continue;
    ASSERT_EQ(common->begin, *first);
    for (std::uint64_t byte = common->begin; byte < common->end; ++byte)
      ASSERT_TRUE(bytes.contains(byte) && others.contains(byte));
  }
}

TEST(Shape, InterleavedRowsHaveNothingInCommon) {
  const Shape even{{0, 56}, 16, 8}, odd{{8, 64}, 16, 8};
  EXPECT_FALSE(even.Common(odd));
  EXPECT_FALSE(odd.Common(even));
}

}  // namespace
}  // namespace sampan::check
