// Which interface a process listens on: a table of wishes.
// Rules of docs/BEHAVIOUR.md: share-14.
#include "base/network/interface.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>

#include <string>
#include <vector>

namespace sampan::interface_test {
namespace {

InterfaceAddress At(const std::string& name, const char* text) {
  PeerAddress address;
  address.version = std::string(text).find(':') == std::string::npos ? 4 : 6;
  EXPECT_EQ(::inet_pton(address.version == 6 ? AF_INET6 : AF_INET, text, address.host.data()), 1);
  return {name, address};
}

struct Row {
  InterfaceWish wish;
  const char* chosen;  // null: refused
};

TEST(InterfaceTest, IsTheOneThatTheVariablesName) {
  const std::vector<InterfaceAddress> all = {
      At("lo", "127.0.0.1"),  At("docker0", "172.17.0.1"), At("eth1", "10.0.1.1"),   At("eth0", "fd00::5"),
      At("eth0", "10.0.0.1"), At("ib0", "192.168.0.1"),    At("eth10", "10.0.10.1"), At("lo", "::1")};
  const Row rows[] = {
      {{}, "10.0.0.1"},  // the first by name, and its older address
      {{.names = "eth1"}, "10.0.1.1"},
      {{.names = "=eth1"}, "10.0.1.1"},
      {{.names = "=eth10"}, "10.0.10.1"},
      {{.names = "=eth"}, nullptr},
      {{.names = "ib,eth1"}, "10.0.1.1"},
      {{.names = "^eth"}, "192.168.0.1"},
      {{.names = "^eth,ib"}, "192.168.0.1"},  // what is named, without what is excluded
      {{.names = "^=eth0"}, "10.0.1.1"},
      {{.names = "^eth,ib0,docker"}, "192.168.0.1"},
      {{.names = "^eth,^ib"}, "172.17.0.1"},
      {{.names = "^eth,^ib,^docker"}, "127.0.0.1"},
      {{.names = "=lo"}, "127.0.0.1"},
      {{.names = "wlan"}, nullptr},
      {{.family = "AF_INET6"}, "fd00::5"},
      {{.family = "AF_INET"}, "10.0.0.1"},
      {{.names = "eth1", .family = "AF_INET6"}, nullptr},
      {{.address = "192.168.0.1", .names = "eth0", .family = "AF_INET6"}, "192.168.0.1"},  // an address wins
      {{.address = "10.0.0.2"}, nullptr},
      {{.address = "nonsense"}, nullptr},
  };
  for (const Row& row : rows) {
    const std::string wish = "'" + row.wish.address + "' '" + row.wish.names + "' '" + row.wish.family + "'";
    auto chosen = ChooseInterface(row.wish, all);
    ASSERT_EQ(chosen.ok(), row.chosen != nullptr) << wish;
    if (chosen.ok()) {
      EXPECT_EQ(HostText(*chosen), row.chosen) << wish;
      continue;
    }
    EXPECT_EQ(chosen.code(), Code::kParamInvalid) << wish;
    const std::string& named = row.wish.address.empty() ? row.wish.names : row.wish.address;
    EXPECT_NE(chosen.error().message.find(named), std::string::npos) << chosen.error().message;
  }
  EXPECT_EQ(ChooseInterface({}, {}).code(), Code::kFeatureNotSupport);
}

}  // namespace
}  // namespace sampan::interface_test
