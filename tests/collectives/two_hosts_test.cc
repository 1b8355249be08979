// Ranks as processes on two hosts: every collective over links that are mixed. This process forks them, so it
// makes no call of the runtime itself. Rules of docs/BEHAVIOUR.md: hccl-13, hccl-14.
#include <gtest/gtest.h>

#include "case_list.h"
#include "tests/hosts/two_hosts.h"
#include "verified_run.h"

namespace collectives::two_hosts_test {
namespace {

using sampan::test::TwoHosts;

/// The first half of the ranks runs on host a.
class RanksOnTwoHosts : public testing::TestWithParam<u32> {
 protected:
  static void SetUpTestSuite() { hosts = new TwoHosts; }
  static void TearDownTestSuite() { delete std::exchange(hosts, nullptr); }

  inline static TwoHosts* hosts = nullptr;
};

TEST_P(RanksOnTwoHosts, EveryCollective) {
  if (!hosts->made())
    GTEST_SKIP() << "network namespaces cannot be made here: root and the command ip are needed";
  const Launch launch{GetParam(), Form::kProcesses};
  const u64 seed = FreshSeed();
  const std::vector<Case> cases = SampleCases(launch.size, seed);
  const auto failed = RunRanks(launch, [&](const Seat& seat) {
    if (seat.rank < launch.size / 2) hosts->GoToHostA();
    Seat mine = seat;
    mine.address = std::string(TwoHosts::kAddressOfA) + ":60000";
    Rank rank(mine, RoomForAll(cases, launch.size));
    for (const Case& what : cases)
      RunVerified(rank, what);
  });
  for (const Ending& ending : failed)
    ADD_FAILURE() << "seed " << seed << ", rank " << ending.rank << ": " << ending.failure;
}
INSTANTIATE_TEST_SUITE_P(Ranks, RanksOnTwoHosts, testing::Values(2U, 4U, 5U),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace collectives::two_hosts_test
