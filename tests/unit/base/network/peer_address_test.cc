// Addresses as users write them.
#include "base/network/peer_address.h"

#include <gtest/gtest.h>

namespace sampan::peer_address_test {
namespace {

TEST(PeerAddressTest, IsReadInEachForm) {
  const auto described = [](const char* text) {
    const auto address = ParseAddress(text);
    return address ? Describe(*address) : "nothing";
  };
  EXPECT_EQ(described("10.0.0.1"), "10.0.0.1:0");
  EXPECT_EQ(described("10.0.0.1:60000"), "10.0.0.1:60000");
  EXPECT_EQ(described("fd00::1"), "[fd00::1]:0");
  EXPECT_EQ(described("[fd00::1]"), "[fd00::1]:0");
  EXPECT_EQ(described("[fd00::1]:65535"), "[fd00::1]:65535");
  EXPECT_EQ(described("::1"), "[::1]:0");
  for (const char* wrong : {"", "host", "10.0.0", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:6x",
                            ":1", "[::1", "[10.0.0.1]", "[::1]:", "[::1]6", "10.0.0.1:1:2", "[]", "[", "]"})
    EXPECT_EQ(described(wrong), "nothing") << wrong;
}

}  // namespace
}  // namespace sampan::peer_address_test
