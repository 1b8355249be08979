// Lists of segments: inside themselves, in the store, and moved between.
#include "backend/api/segment_list.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace sampan::segment_list_test {
namespace {

/// Gives away exactly what is asked for, and watches that it comes back once.
class CountingStore final : public SegmentStore {
 public:
  ~CountingStore() override { EXPECT_EQ(given_, 0); }
  Result<std::span<Segment>> Take(std::size_t segments) override {
    if (empty) return Error{Code::kMemoryAllocation, "none left"};
    ++given_, ++taken_;
    return std::span(new Segment[segments], segments);
  }
  void GiveBack(std::span<Segment> room) noexcept override {
    --given_;
    delete[] room.data();
  }
  int given() const { return given_; }
  int taken() const { return taken_; }
  bool empty = false;

 private:
  int given_ = 0, taken_ = 0;
};

Segment Numbered(std::size_t number) {
  return {reinterpret_cast<std::byte*>(number), reinterpret_cast<const std::byte*>(3 * number), number};
}

class SegmentListTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static constexpr std::size_t kInside = SegmentList::kInside;
  static void Fill(SegmentList& list, std::size_t segments) {
    ASSERT_TRUE(list.Reserve(segments).ok());
    for (std::size_t i = 0; i < segments; ++i)
      list.Append(Numbered(i + 1));
  }
  static void ExpectNumbered(const SegmentList& list, std::size_t segments) {
    ASSERT_EQ(list.size(), segments);
    EXPECT_EQ(list.empty(), segments == 0);
    for (std::size_t i = 0; i < segments; ++i) {
      EXPECT_EQ(list.all()[i].dst, Numbered(i + 1).dst);
      EXPECT_EQ(list.all()[i].src, Numbered(i + 1).src);
      EXPECT_EQ(list.all()[i].bytes, i + 1);
    }
    if (segments != 0) {
      EXPECT_EQ(list.front().bytes, 1U);
    }
  }

  CountingStore store_;
};

TEST_P(SegmentListTest, TakesMemoryOnlyForMoreThanLieInside) {
  SegmentList list(store_);
  Fill(list, GetParam());
  ExpectNumbered(list, GetParam());
  EXPECT_EQ(list.in_store(), GetParam() > kInside);
  EXPECT_EQ(store_.taken(), GetParam() > kInside ? 1 : 0);
  EXPECT_GE(list.room(), GetParam());
}

TEST_P(SegmentListTest, MovesLeaveNothingBehind) {
  SegmentList from(store_);
  Fill(from, GetParam());
  const SegmentList to(std::move(from));
  ExpectNumbered(to, GetParam());
  EXPECT_EQ(to.in_store(), GetParam() > kInside);
  EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move): what a move leaves is the subject
  EXPECT_FALSE(from.in_store());
  EXPECT_EQ(from.room(), kInside);
  EXPECT_EQ(store_.given(), GetParam() > kInside ? 1 : 0);
  from.Append(Numbered(9));
  ExpectNumbered(to, GetParam());
}

TEST_P(SegmentListTest, GrowsWithItsSegments) {
  SegmentList list(store_);
  Fill(list, GetParam());
  ASSERT_TRUE(list.Reserve(GetParam() + 20).ok());
  ExpectNumbered(list, GetParam());
  EXPECT_TRUE(list.in_store());
  EXPECT_EQ(store_.given(), 1) << "the smaller room went back";
  for (std::size_t i = 0; i < 20; ++i)
    list.next()[i] = Numbered(GetParam() + i + 1);
  list.Added(20);
  ExpectNumbered(list, GetParam() + 20);
}

TEST_P(SegmentListTest, StaysWholeWhereTheStoreIsEmpty) {
  SegmentList list(store_);
  Fill(list, GetParam());
  store_.empty = true;
  const Status grown = list.Reserve(GetParam() + 20);
  EXPECT_EQ(grown.code(), Code::kMemoryAllocation);
  ExpectNumbered(list, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Sizes, SegmentListTest, testing::Values(0, 1, 7, 8, 9, 16, 300));

}  // namespace
}  // namespace sampan::segment_list_test
