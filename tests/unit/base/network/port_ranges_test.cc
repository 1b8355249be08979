// Lists of ports, as HCCL's variables have them.
#include "base/network/port_ranges.h"

#include <gtest/gtest.h>

namespace sampan::port_ranges_test {
namespace {

TEST(PortRangesTest, AreReadInEachForm) {
  const auto read = ParsePortRanges("60000-60050,60100,1-1,65535");
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), 4u);
  EXPECT_EQ(read->at(0).first, 60000);
  EXPECT_EQ(read->at(0).last, 60050);
  EXPECT_EQ(read->at(1).first, 60100);
  EXPECT_EQ(read->at(1).last, 60100);
  EXPECT_EQ(read->at(3).last, 65535);
  for (const char* wrong :
       {"", ",", "1,", ",1", "0", "0-5", "5-4", "1-", "-1", "65536", "1-65536", "1 ", "+1", "1-2-3", "auto"})
    EXPECT_FALSE(ParsePortRanges(wrong).has_value()) << wrong;
}

}  // namespace
}  // namespace sampan::port_ranges_test
