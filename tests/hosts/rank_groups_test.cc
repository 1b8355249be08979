// Groups of ranks on two hosts: they meet, compute over mixed links, and end together when a rank or the
// cable is gone. Rules of docs/BEHAVIOUR.md: hccl-13, hccl-14, hccl-15.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/network/connecting.h"
#include "base/system/descriptor.h"
#include "hccl/platform/rank_group.h"
#include "tests/hccl/rank_process.h"
#include "tests/hosts/hosts_fixture.h"
#include "tests/support/environment_variable.h"
#include "tests/support/random_bytes.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::rank_groups_test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Failure {
  std::string line;
  Clock::duration after;
};

/// Ranks 0 and 1 live on host a, the others on b; over loopback all of them on b.
class RankGroups : public HostsFixture {
 protected:
  void SetUp() override {
    HostsFixture::SetUp();
    order.name = "rank-groups-" + std::to_string(::getpid());
    order.token = hccl::RankGroup::MakeToken();
    order.seed = TestSeed();
    order.address = std::string(TwoHosts::kAddressOfA) + ":60000";
    if (!OverCable()) {
      // In the network of the test, other programs may listen.
      const EnvironmentVariable interface("HCCL_SOCKET_IFNAME", "=lo"),
          ports("HCCL_HOST_SOCKET_PORT_RANGE", "auto");
      EXPECT_EQ(hccl::RankGroup::MakeAddress(order.address), HCCL_SUCCESS);
    }
  }
  static bool OverCable() { return GetParam() == Way::kCable; }
  static bool IsOnA(std::uint32_t rank) { return rank < 2; }
  /// The address by which messages name a rank's host.
  static std::string HostOf(std::uint32_t rank) {
    return !OverCable() ? "127.0.0.1" : IsOnA(rank) ? TwoHosts::kAddressOfA : TwoHosts::kAddressOfB;
  }

  /// As messages name a rank.
  std::string NameOf(std::uint32_t rank) const {
    return "rank " + std::to_string(rank) + " (process " + std::to_string(ranks[rank]->process()) + " on " +
           HostOf(rank) + ")";
  }
  std::unique_ptr<RankProcess> StartRank(std::uint32_t rank) {
    order.first_rank = rank;
    std::unique_ptr<RankProcess> started;
    const auto start = [&] { started = std::make_unique<RankProcess>(order); };
    if (OverCable() && IsOnA(rank))
      two_hosts->OnHostA(start);
    else
      start();
    return started;
  }
  void Start(const std::string& scenario, std::uint32_t size) {
    order.scenario = scenario;
    order.size = size;
    for (std::uint32_t rank = 0; rank < size; rank += order.threads)
      ranks.push_back(StartRank(rank));
  }
  void AwaitLinks() {
    for (const auto& rank : ranks)
      ASSERT_EQ(rank->Line(30s), "connected");
  }
  /// Returns what all of them said.
  std::string ExpectAllWell() {
    std::string all;
    for (const auto& rank : ranks) {
      std::string said, line;
      while (!(line = rank->Line(60s)).empty())
        said += line + "\n";
      EXPECT_EQ(rank->Wait(), 0) << said;
      all += said;
    }
    return all;
  }
  static Failure AwaitFailure(RankProcess& rank, Clock::time_point since) {
    for (;;) {
      const std::string line = rank.Line(15s);
      if (line.empty() || line.starts_with("failed")) return {line, Clock::now() - since};
    }
  }

  RankOrder order;
  std::vector<std::unique_ptr<RankProcess>> ranks;
};

INSTANTIATE_TEST_SUITE_P(By, RankGroups, ::testing::Values(Way::kCable, Way::kLoopback),
                         [](const auto& way) { return NameOf(way.param); });

TEST_P(RankGroups, ARingOfBothHosts) {
  ::setenv("ASCEND_GLOBAL_LOG_LEVEL", "2", 1);
  ::setenv("ASCEND_SLOG_PRINT_TO_STDOUT", "1", 1);
  Start("read", 4);
  ::setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
  ::unsetenv("ASCEND_SLOG_PRINT_TO_STDOUT");
  const std::string said = ExpectAllWell();
  EXPECT_EQ(said.find("[WARNING]"), std::string::npos) << said;
}

TEST_P(RankGroups, WritingAndThreads) {
  if (!OverCable() && two_hosts->made()) GTEST_SKIP() << "it has run over the cable";
  order.threads = 2;
  Start("write", 6);
  ExpectAllWell();
}

TEST_P(RankGroups, RanksOfOneHostShareMemory) {
  Start("links", 4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    ASSERT_EQ(ranks[rank]->Line(30s), "connected");
    std::string expected = "links " + std::to_string(rank) + " ";
    for (std::uint32_t peer = 0; peer < 4; ++peer)
      expected += peer == rank ? '-' : OverCable() && IsOnA(peer) != IsOnA(rank) ? 'w' : 'm';
    EXPECT_EQ(ranks[rank]->Line(30s), expected);
    for (int link = 0; OverCable() && link < 2; ++link) {
      const std::string said = ranks[rank]->Line(30s);
      EXPECT_TRUE(said.starts_with("reduces " + std::to_string(HCCL_E_NOT_SUPPORT) + " ")) << said;
      EXPECT_NE(said.find(" on " + HostOf(IsOnA(rank) ? 2 : 0) + ") is on another host"), std::string::npos)
          << said;
    }
  }
  ExpectAllWell();
}

TEST_P(RankGroups, AKilledRankIsNamedWithItsHost) {
  Random random;
  for (const std::uint32_t victim : {static_cast<std::uint32_t>(random.Between(1, 3)), 0u}) {
    SCOPED_TRACE("rank " + std::to_string(victim));
    ranks.clear();
    order.token = hccl::RankGroup::MakeToken();
    Start("endless", 4);
    ASSERT_NO_FATAL_FAILURE(AwaitLinks());
    std::this_thread::sleep_for(std::chrono::milliseconds(random.Between(0, 60)));
    const std::string named = NameOf(victim);
    // As a copy names it that fails before the group has noticed.
    const std::string by_copy =
        "process " + std::to_string(ranks[victim]->process()) + " on host " + HostOf(victim);
    const auto killed = Clock::now();
    ranks[victim]->Signal(SIGKILL);
    std::string all;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      if (rank == victim) continue;
      const Failure failure = AwaitFailure(*ranks[rank], killed);
      all += failure.line + "\n";
      EXPECT_LT(failure.after, 10s) << "long before the limit of 20 seconds";
      // A copy may fail before: of memory of the killed rank, or of one that has noticed and ended.
      EXPECT_NE(failure.line.find("process "), std::string::npos) << failure.line;
      EXPECT_EQ(failure.line.find("wrong-bytes"), std::string::npos) << failure.line;
      EXPECT_EQ(ranks[rank]->Wait(), 1) << "it ends by itself";
    }
    EXPECT_TRUE(all.find(named) != std::string::npos || all.find(by_copy) != std::string::npos)
        << "neither " << named << " nor " << by_copy << " is in\n"
        << all;
  }
}

TEST_P(RankGroups, ACutCableEndsTheGroupOnBothSides) {
  if (!OverCable()) GTEST_SKIP() << "loopback has no cable";
  Start("endless", 4);
  ASSERT_NO_FATAL_FAILURE(AwaitLinks());
  const auto cut = Clock::now();
  ASSERT_TRUE(two_hosts->CutCable());
  for (const auto& rank : ranks) {
    const Failure failure = AwaitFailure(*rank, cut);
    EXPECT_NE(failure.line, "");
    EXPECT_LT(failure.after, 12s) << failure.line;
    EXPECT_EQ(failure.line.find("wrong-bytes"), std::string::npos) << failure.line;
    EXPECT_EQ(rank->Wait(), 1);
  }
  ASSERT_TRUE(two_hosts->MendCable());
}

TEST_P(RankGroups, AnotherTokenIsNotAdmitted) {
  RankOrder right = order;
  order.scenario = "read";
  order.size = 4;
  for (const std::uint32_t rank : {0u, 2u, 3u})
    ranks.push_back(StartRank(rank));
  order.token = hccl::RankGroup::MakeToken();
  order.join_ms = 300;
  const auto stranger = StartRank(1);
  const std::string said = stranger->Line(30s);
  EXPECT_TRUE(said.starts_with("failed rank=1 at=join code=" + std::to_string(HCCL_E_TIMEOUT) + " ")) << said;
  EXPECT_NE(said.find("it refuses the token of this rank"), std::string::npos) << said;
  order.token = right.token;
  order.join_ms = right.join_ms;
  ranks.push_back(StartRank(1));
  ExpectAllWell();
}

/// Connects strangers: silent ones, and ones that say anything. They stay as long as the result lives.
std::vector<Descriptor> Disturb(const std::string& address, int count) {
  Random random;
  const SocketAddress name = ToSocket(*ParseAddress(address));
  std::vector<Descriptor> strangers;
  for (int i = 0; i < count; ++i) {
    strangers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    EXPECT_EQ(ConnectBy(strangers.back().get(), name, sampan::Clock::now() + 20s), 0);
    const Bytes noise = random.Fill(random.Between(1, 200));
    if (i % 2 == 0)
      static_cast<void>(::send(strangers.back().get(), noise.data(), noise.size(), MSG_NOSIGNAL));
  }
  return strangers;
}

TEST_P(RankGroups, StrangersDoNotKeepRanksOut) {
  order.scenario = "read";
  order.size = 4;
  ranks.push_back(StartRank(0));
  const SocketAddress name = ToSocket(*ParseAddress(order.address));
  for (bool listens = false; !listens;) {
    const Descriptor knock(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    listens = ConnectBy(knock.get(), name, sampan::Clock::now() + 1s) == 0;
  }
  // More than the hub has places for, before each rank.
  std::vector<std::vector<Descriptor>> strangers;
  for (std::uint32_t rank = 1; rank < 4; ++rank) {
    strangers.push_back(Disturb(order.address, 300));
    ranks.push_back(StartRank(rank));
  }
  ASSERT_NO_FATAL_FAILURE(AwaitLinks());
  ExpectAllWell();
}

/// As mpirun starts the example on two hosts, with what its document says.
TEST_P(RankGroups, TheExampleForMpirunAddsUp) {
  if (!OverCable() && two_hosts->made()) GTEST_SKIP() << "it has run over the cable";
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/ring.token";
  ASSERT_EQ(hccl::RankGroup::MakeFile(file), HCCL_SUCCESS);
  std::vector<std::thread> started;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    started.emplace_back([&, rank] {
      if (OverCable() && IsOnA(rank)) two_hosts->GoToHostA();
      const std::string command = "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=" + std::to_string(rank) +
                                  " " + RING_OF_RANKS + " " + order.address + " " + file + " >/dev/null";
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    });
  }
  for (std::thread& each : started)
    each.join();
}

TEST_P(RankGroups, OtherChipsHaveNoLinksBetweenHosts) {
  if (!OverCable()) GTEST_SKIP() << "there is one host";
  ::setenv("SAMPAN_PROFILE", "ascend910b", 1);
  order.scenario = "links";
  order.size = 3;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    ranks.push_back(StartRank(rank));
  ::setenv("SAMPAN_PROFILE", "ascend910c", 1);
  for (const auto& rank : ranks) {
    const std::string said = rank->Line(30s);
    EXPECT_NE(said.find("at=connect code=" + std::to_string(HCCL_E_NOT_SUPPORT)), std::string::npos) << said;
    EXPECT_NE(said.find("on different hosts"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace sampan::test::rank_groups_test
