// hccl::RankGroup at an address of the network, over loopback: where rank 0 listens, and who meets there.
// Rules of docs/BEHAVIOUR.md: hccl-13, hccl-16.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/hccl/rank_threads.h"
#include "tests/support/environment_variable.h"

namespace sampan::test::network_group_test {
namespace {

using hccl::RankGroup;
using hccl::RankGroupConfig;
using std::chrono::milliseconds;

RankGroupConfig LoopbackGroup(std::uint32_t size) {
  const EnvironmentVariable interface("HCCL_SOCKET_IFNAME", "=lo"),
      ports("HCCL_HOST_SOCKET_PORT_RANGE", "auto");
  RankGroupConfig config = GroupOf(size);
  EXPECT_HCCL(HCCL_SUCCESS, RankGroup::MakeAddress(config.address));
  return config;
}

TEST(NetworkGroupTest, RanksMeetExchangeAndLeave) {
  const RankGroupConfig shared = LoopbackGroup(4);
  std::vector<std::thread> threads;
  for (u32 rank = 0; rank < 4; ++rank) {
    threads.emplace_back([&, rank] {
      RankGroupConfig config = shared;
      config.rank = rank;
      RankWorld world(config);
      for (std::size_t round = 0; round < 10; ++round) {
        const std::vector<u8> mine(round * 10000 + rank, static_cast<u8>(rank + round));
        std::vector<std::vector<u8>> all;
        ASSERT_HCCL(HCCL_SUCCESS, world.group->Exchange(mine, all));
        ASSERT_EQ(all.size(), 4u);
        for (u32 peer = 0; peer < 4; ++peer)
          EXPECT_EQ(all[peer], std::vector<u8>(round * 10000 + peer, static_cast<u8>(peer + round)));
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST(NetworkGroupTest, AddressesAreChecked) {
  for (const char* wrong : {"here", "127.0.0.1:0", "127.0.0.1:70000", "[::1", "127.0.0.1:1:2"}) {
    RankGroupConfig config = GroupOf(1);
    config.address = wrong;
    EXPECT_HCCL(HCCL_E_PARA, Join(config, 0));
    EXPECT_TRUE(MessageHas(wrong));
  }
  RankGroupConfig config = GroupOf(1);
  config.address = "192.0.2.1:60000";  // of no interface: reserved for documents
  EXPECT_HCCL(HCCL_E_SYSCALL, Join(config, 0));
  EXPECT_TRUE(MessageHas("at 192.0.2.1:60000"));
}

TEST(NetworkGroupTest, VariablesChooseThePort) {
  std::string address;
  {
    const EnvironmentVariable wrong("HCCL_IF_IP", "192.0.2.1");
    EXPECT_HCCL(HCCL_E_PARA, RankGroup::MakeAddress(address));
  }
  const EnvironmentVariable interface("HCCL_IF_IP", "127.0.0.1");
  {
    const EnvironmentVariable wrong("HCCL_HOST_SOCKET_PORT_RANGE", "9-8");
    EXPECT_HCCL(HCCL_E_PARA, RankGroup::MakeAddress(address));
  }
  {
    const EnvironmentVariable wrong("HCCL_IF_BASE_PORT", "1023");
    EXPECT_HCCL(HCCL_E_PARA, RankGroup::MakeAddress(address));
  }
  RankGroupConfig config = LoopbackGroup(1);
  const std::string port = config.address.substr(config.address.find(':') + 1);
  const EnvironmentVariable only("HCCL_HOST_SOCKET_PORT_RANGE", port.c_str());
  config.address = "127.0.0.1";  // the port is the first of the range
  config.rankSize = 2;
  config.timeout = std::chrono::seconds(20);
  std::thread zero([&] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, 0)); });
  HcclResult made = HCCL_SUCCESS;
  while ((made = RankGroup::MakeAddress(address)) == HCCL_SUCCESS)  // until rank 0 listens
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_HCCL(HCCL_E_UNAVAIL, made);
  EXPECT_HCCL(HCCL_E_UNAVAIL, Join(config, 0)) << "there is one rank 0 at a port";
  EXPECT_HCCL(HCCL_SUCCESS, Join(config, 1));
  zero.join();
}

TEST(NetworkGroupTest, RanksThatDoNotComeAreNamed) {
  RankGroupConfig config = LoopbackGroup(3);
  config.timeout = milliseconds(200);
  std::thread zero([&] { EXPECT_HCCL(HCCL_E_TIMEOUT, Join(config, 0)); });
  EXPECT_HCCL(HCCL_E_TIMEOUT, Join(config, 1));
  zero.join();
  EXPECT_HCCL(HCCL_E_TIMEOUT, Join(config, 2));
  EXPECT_TRUE(MessageHas("did not find rank 0"));
  EXPECT_TRUE(MessageHas("at 127.0.0.1:"));
}

/// hccl-16: ranks 0 and 1 meet beside the network, the others over it. Each posts numbers to all.
TEST(NetworkGroupTest, PostsComeInTheirOrder) {
  constexpr u32 kRanks = 4, kPosts = 200;
  RankGroupConfig shared = GroupOf(kRanks);
  {
    const EnvironmentVariable interface("HCCL_SOCKET_IFNAME", "=lo"),
        ports("HCCL_HOST_SOCKET_PORT_RANGE", "auto");
    EXPECT_HCCL(HCCL_SUCCESS, RankGroup::ReserveAddress(shared.address));
  }
  std::vector<std::thread> threads;
  for (u32 rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      std::vector<u32> next(kRanks, 0);
      std::atomic<u32> heard{0};
      RankGroupConfig config = shared;
      config.rank = rank;
      config.isOnHostOfRank0 = rank < 2;
      config.onPosted = [&](u32 from, const std::vector<u8>& bytes) {
        EXPECT_EQ(bytes, std::vector<u8>(next[from], static_cast<u8>(from)));
        ++next[from];
        ++heard;
      };
      RankWorld world(config);
      ASSERT_NE(world.group, nullptr);
      EXPECT_EQ(world.group->HostOf(2), "127.0.0.1");
      EXPECT_EQ(world.group->HostOf(0), "127.0.0.1");
      EXPECT_EQ(world.group->HostOf(kRanks), "");
      const std::vector<u32> all = {0, 1, 2, 3};
      for (u32 post = 0; post < kPosts; ++post)
        EXPECT_HCCL(HCCL_SUCCESS, world.group->Post(all, std::vector<u8>(post, static_cast<u8>(rank))));
      while (heard < kRanks * kPosts)
        std::this_thread::yield();
      EXPECT_HCCL(HCCL_E_PARA, world.group->Post({kRanks}, {}));
      EXPECT_HCCL(HCCL_E_PARA, world.group->Post({0}, std::vector<u8>((std::size_t{1} << 20) + 1)));
      EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

/// hccl-13: a reserved port is this process's, until it has reserved 16 others.
TEST(NetworkGroupTest, AReservedPortIsKept) {
  const EnvironmentVariable interface("HCCL_SOCKET_IFNAME", "=lo"),
      ports("HCCL_HOST_SOCKET_PORT_RANGE", "auto");
  std::string reserved;
  EXPECT_HCCL(HCCL_SUCCESS, RankGroup::ReserveAddress(reserved));
  const std::string port = reserved.substr(reserved.find(':') + 1);
  const auto is_free = [&] {
    const EnvironmentVariable only("HCCL_HOST_SOCKET_PORT_RANGE", port.c_str());
    std::string address;
    return RankGroup::MakeAddress(address) == HCCL_SUCCESS;
  };
  EXPECT_FALSE(is_free());
  std::string other;
  for (int i = 0; i < 15; ++i)
    EXPECT_HCCL(HCCL_SUCCESS, RankGroup::ReserveAddress(other));
  EXPECT_FALSE(is_free());
  EXPECT_HCCL(HCCL_SUCCESS, RankGroup::ReserveAddress(other));
  EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace sampan::test::network_group_test
