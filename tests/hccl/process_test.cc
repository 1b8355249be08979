// Ranks as processes: they compute, they are killed, they stand still, and nothing of them is left.
// Rules of docs/BEHAVIOUR.md: hccl-10.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "hccl/platform/rank_group.h"
#include "tests/hccl/rank_process.h"
#include "tests/support/random_bytes.h"

namespace sampan::test::process_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Ranks = std::vector<std::unique_ptr<RankProcess>>;

/// Other test programs run at the same time.
std::string GroupName() {
  return "process-test-" + std::to_string(::getpid());
}

RankOrder Order(const std::string& scenario, std::uint32_t size) {
  RankOrder order;
  order.scenario = scenario;
  order.name = GroupName();
  order.token = hccl::RankGroup::MakeToken();
  order.size = size;
  order.seed = TestSeed();
  return order;
}

Ranks Start(RankOrder order) {
  Ranks ranks;
  for (std::uint32_t rank = 0; rank < order.size; rank += order.threads) {
    order.first_rank = rank;
    ranks.push_back(std::make_unique<RankProcess>(order));
  }
  return ranks;
}

std::set<std::string> Names(const char* folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

/// Nothing new in /dev/shm, and no socket of a group.
class NothingLeft {
 public:
  ~NothingLeft() {
    for (const std::string& name : Names("/dev/shm"))
      EXPECT_TRUE(before_.contains(name) || name.find("sampan") == std::string::npos) << name;
    std::ifstream sockets("/proc/net/unix");
    for (std::string line; std::getline(sockets, line);)
      EXPECT_EQ(line.find(GroupName()), std::string::npos) << line;
  }

 private:
  const std::set<std::string> before_ = Names("/dev/shm");
};

void ExpectAllWell(Ranks& ranks) {
  for (auto& rank : ranks) {
    std::string said, line;
    while (!(line = rank->Line(seconds(60))).empty())
      said += line + "\n";
    EXPECT_EQ(rank->Wait(), 0) << said;
  }
}

TEST(ProcessTest, ARingOfProcesses) {
  const NothingLeft check;
  for (const std::uint32_t size : {2u, 3u, 8u}) {
    Ranks ranks = Start(Order("read", size));
    ExpectAllWell(ranks);
  }
}

TEST(ProcessTest, WritingInsteadOfReading) {
  const NothingLeft check;
  Ranks ranks = Start(Order("write", 4));
  ExpectAllWell(ranks);
}

TEST(ProcessTest, ThreadsAndProcessesMix) {
  const NothingLeft check;
  RankOrder order = Order("read", 6);
  order.threads = 2;
  Ranks ranks = Start(order);
  ExpectAllWell(ranks);
}

/// Returns when every rank has its links.
void AwaitLinks(const Ranks& ranks) {
  for (const auto& rank : ranks)
    ASSERT_EQ(rank->Line(seconds(20)), "connected");
}

/// What a survivor said when it failed.
struct Failure {
  std::string line;
  std::chrono::steady_clock::time_point at;
};

Failure WaitForFailure(RankProcess& rank, milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return {};
    const std::string line = rank.Line(left);
    if (line.empty() || line.starts_with("failed")) return {line, std::chrono::steady_clock::now()};
  }
}

/// Kills rank `victim` in the middle of endless rounds, at a moment that the seed chooses.
void KillOne(std::uint32_t size, std::uint32_t victim, milliseconds after) {
  SCOPED_TRACE("rank " + std::to_string(victim) + " of " + std::to_string(size) + " killed " +
               std::to_string(after.count()) + " ms after the links were made");
  Ranks ranks = Start(Order("endless", size));
  ASSERT_NO_FATAL_FAILURE(AwaitLinks(ranks));
  std::this_thread::sleep_for(after);
  const auto killed = std::chrono::steady_clock::now();
  ranks[victim]->Signal(SIGKILL);
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    if (rank == victim) continue;
    const Failure failure = WaitForFailure(*ranks[rank], seconds(15));
    ASSERT_NE(failure.line, "") << "rank " << rank << " said nothing";
    EXPECT_LT(failure.at - killed, seconds(10)) << "long before its limit of 20 seconds";
    EXPECT_NE(failure.line.find("rank " + std::to_string(victim) + " (process "), std::string::npos)
        << failure.line;
    EXPECT_EQ(failure.line.find("wrong-bytes"), std::string::npos) << failure.line;
    if (failure.line.find("at=barrier") == std::string::npos) {
      EXPECT_NE(failure.line.find("notify "), std::string::npos) << failure.line;
    }
    EXPECT_EQ(ranks[rank]->Wait(), 1) << "it ends by itself";
  }
}

TEST(ProcessTest, AKilledRankIsNamedByAllOthers) {
  const NothingLeft check;
  Random random;
  for (int round = 0; round < 8; ++round) {
    const auto size = static_cast<std::uint32_t>(random.Between(2, 6));
    const auto victim = static_cast<std::uint32_t>(random.Between(0, size - 1));
    KillOne(size, victim, milliseconds(random.Between(0, 60)));
    if (HasFatalFailure()) return;
  }
}

TEST(ProcessTest, KilledWhileTheRanksMeet) {
  const NothingLeft check;
  Random random;
  for (int round = 0; round < 5; ++round) {
    RankOrder order = Order("endless", 3);
    order.join_ms = 800;
    Ranks ranks = Start(order);
    std::this_thread::sleep_for(milliseconds(random.Between(0, 40)));
    const auto victim = static_cast<std::uint32_t>(random.Between(0, 2));
    ranks[victim]->Signal(SIGKILL);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      if (rank == victim) continue;
      const Failure failure = WaitForFailure(*ranks[rank], seconds(10));
      ASSERT_NE(failure.line, "") << "rank " << rank << " said nothing; rank " << victim << " was killed";
      EXPECT_NE(failure.line.find("rank"), std::string::npos) << failure.line;
      EXPECT_EQ(ranks[rank]->Wait(), 1);
    }
  }
}

TEST(ProcessTest, ARankThatStandsStillEndsInATimeoutEverywhere) {
  const NothingLeft check;
  RankOrder order = Order("endless", 4);
  order.wait_seconds = 1;
  order.join_ms = 3000;
  Ranks ranks = Start(order);
  ASSERT_NO_FATAL_FAILURE(AwaitLinks(ranks));
  std::this_thread::sleep_for(milliseconds(20));
  ranks[2]->Signal(SIGSTOP);
  for (const std::size_t rank : {0u, 1u, 3u}) {
    const Failure failure = WaitForFailure(*ranks[rank], seconds(15));
    ASSERT_NE(failure.line, "") << "rank " << rank << " said nothing";
    EXPECT_NE(failure.line.find("rank"), std::string::npos) << failure.line;
    EXPECT_EQ(failure.line.find("wrong-bytes"), std::string::npos) << failure.line;
  }
  ranks[2]->Signal(SIGKILL);
}

TEST(ProcessTest, RanksThatLeaveEarlyDoNotDisturb) {
  const NothingLeft check;
  Ranks ranks = Start(Order("exit", 4));
  ExpectAllWell(ranks);
}

}  // namespace
}  // namespace sampan::test::process_test
