// The list of pieces against an array with the value of each byte.
#include "check/order/piece_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace sampan::check {
namespace {

/// What the list says of each byte; 0: no piece has it.
std::vector<int> BytesOf(const PieceList<int>& list, std::size_t bytes) {
  std::vector<int> values(bytes);
  std::uint64_t end = 0;
  std::size_t pieces = 0;
  list.AnyOf({0, bytes}, [&](const auto& piece) {
    EXPECT_GE(piece.range.begin, end) << "the pieces are not in order, or overlap";
    EXPECT_LT(piece.range.begin, piece.range.end);
    for (std::uint64_t at = piece.range.begin; at < piece.range.end; ++at)
      values[at] = piece.value;
    end = piece.range.end;
    ++pieces;
    return false;
  });
  EXPECT_EQ(pieces, list.size());
  return values;
}

TEST(PieceList, HasTheLastValueOfEachByte) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (const std::uint64_t longest : {2, 8, 600}) {
    constexpr std::size_t kBytes = 2000;
    PieceList<int> list;
    std::vector<int> expected(kBytes);
    for (int value = 1; value <= 3000; ++value) {
      const std::uint64_t begin = random() % kBytes;
      const std::uint64_t end = std::min<std::uint64_t>(begin + 1 + random() % longest, kBytes);
      list.Put({begin, end}, value);
      std::fill(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                expected.begin() + static_cast<std::ptrdiff_t>(end), value);
      if (value % 100 == 0) {
        ASSERT_EQ(BytesOf(list, kBytes), expected);
      }
    }
    list.EraseIf([](const auto& piece) { return piece.value % 3 == 0; });
    for (int& value : expected)
      value = value % 3 == 0 ? 0 : value;
    EXPECT_EQ(BytesOf(list, kBytes), expected);
  }
}

TEST(PieceList, TakesABatchInAnySequence) {
  constexpr std::uint64_t kPieces = 5000;
  for (const std::uint64_t step : {std::uint64_t{1}, std::uint64_t{7}, kPieces - 1}) {
    PieceList<int> list;
    for (std::uint64_t i = 0; i < kPieces; ++i) {
      const std::uint64_t at = i * step % kPieces * 8;
      list.Put({at, at + 8}, 1);
    }
    EXPECT_EQ(list.size(), kPieces);
    EXPECT_FALSE(list.AnyOf({8 * kPieces, 8 * kPieces + 1}, [](const auto&) { return true; }));
  }
}

}  // namespace
}  // namespace sampan::check
