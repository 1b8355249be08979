// Where one way becomes the better one, from times with and without outliers.
#include <gtest/gtest.h>

#include <vector>

#include "tools/sampan/crossing.h"

namespace sampan::tool::crossing_test {
namespace {

using Times = std::vector<double>;

TEST(BestCrossing, IsWhereTheSecondWayBecomesFaster) {
  EXPECT_EQ(BestCrossing(Times{1, 2, 4, 8}, Times{3, 3, 3, 3}), 2U);
  EXPECT_EQ(BestCrossing(Times{1, 2, 4, 8}, Times{9, 9, 9, 9}), 4U) << "never";
  EXPECT_EQ(BestCrossing(Times{1, 2, 4, 8}, Times{0.5, 1, 2, 4}), 0U) << "at once";
}

TEST(BestCrossing, OneFigureThatIsOffDoesNotMoveIt) {
  EXPECT_EQ(BestCrossing(Times{1, 1.1, 1.2, 2, 4, 8}, Times{1.9, 1, 1.9, 1.5, 2, 2}), 3U);
  EXPECT_EQ(BestCrossing(Times{1, 1, 1, 2, 1.9, 8}, Times{2, 2, 2, 1, 2, 2}), 3U);
}

TEST(FirstGoodEnough, PrefersLessWhereMoreBuysNothing) {
  EXPECT_EQ(FirstGoodEnough(Times{4, 1.03, 1.019, 1.0, 1.0}), 2U);
  EXPECT_EQ(FirstGoodEnough(Times{1}), 0U);
  EXPECT_EQ(FirstGoodEnough(Times{1, 0.5, 2}), 1U);
}

}  // namespace
}  // namespace sampan::tool::crossing_test
