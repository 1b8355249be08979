// Ranks as threads of one process.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "case_list.h"
#include "check.h"
#include "verified_run.h"

namespace collectives::threads_test {
namespace {

class EveryNumberOfThreads : public testing::TestWithParam<u32> {};

TEST_P(EveryNumberOfThreads, EveryCollective) {
  const u32 ranks = GetParam();
  ExpectVerified({ranks, Form::kThreads}, ManyCases(ranks, FreshSeed()));
}
INSTANTIATE_TEST_SUITE_P(Ranks, EveryNumberOfThreads, testing::Range(1U, 17U),
                         testing::PrintToStringParamName());

/// Under a chosen schedule one task runs at a time: fewer ranks and cases.
class EverySchedule : public testing::TestWithParam<u32> {};

TEST_P(EverySchedule, EveryCollective) {
  const u32 ranks = GetParam();
  ExpectVerified({ranks, Form::kThreads}, SampleCases(ranks, FreshSeed()));
}
INSTANTIATE_TEST_SUITE_P(Ranks, EverySchedule, testing::Values(1U, 2U, 3U, 4U, 7U, 16U),
                         testing::PrintToStringParamName());

/// Collectives follow one another without a wait in between, as in a training step.
TEST(Threads, CollectivesBackToBackUnderASchedule) {
  const u32 ranks = 3;
  const u64 seed = FreshSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const std::vector<Case> cases = SampleCases(ranks, seed);
  const std::vector<Ending> failed = RunRanks({ranks, Form::kThreads}, [&](const Seat& seat) {
    Rank rank(seat, RoomForAll(cases, ranks));
    for (int round = 0; round < 3; ++round) {
      for (const Case& what : cases) {
        // It talks to the other ranks by itself, in between.
        if (what.collective != Collective::kAllToAllV) RunCase(rank, what);
      }
    }
    rank.Synchronize();
    RunVerified(rank, cases.front());
    RunVerified(rank, cases.back());
  });
  for (const Ending& ending : failed)
    ADD_FAILURE() << "rank " << ending.rank << ": " << ending.failure;
}

/// Copies large enough to be shared between engines, and a ring whose steps overlap.
TEST(Threads, LargeOnes) {
  for (const Collective collective :
       {Collective::kRingAllGather, Collective::kRingAllReduce, Collective::kAllToAll}) {
    ExpectVerified({3, Form::kThreads},
                   {{collective, 1'000'003, {HCCL_DATA_TYPE_FP16, HCCL_REDUCE_SUM}, 0, FreshSeed()}});
  }
}

/// The check must be able to fail: one rank brings other data than the reference says.
TEST(Threads, AWrongResultIsNoticedByEveryRankThatGetsIt) {
  const Case what = {Collective::kRingAllGather, 100, {HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM}, 0, 1};
  Case other = what;
  other.seed = 2;
  const u32 ranks = 4;
  const std::vector<Ending> failed = RunRanks({ranks, Form::kThreads}, [&](const Seat& seat) {
    Rank rank(seat, RoomFor(what, ranks));
    RunVerified(rank, seat.rank == 2 ? other : what);
  });
  EXPECT_EQ(failed.size(), ranks);
  for (const Ending& ending : failed) {
    EXPECT_NE(ending.failure.find("ring_all_gather of 100 elements"), std::string::npos) << ending.failure;
    EXPECT_NE(ending.failure.find("expected 0x"), std::string::npos) << ending.failure;
  }
}

TEST(Threads, RanksThatDoNotAgreeOnACountAreTold) {
  const u32 ranks = 2;
  const std::vector<Ending> failed = RunRanks({ranks, Form::kThreads}, [&](const Seat& seat) {
    Rank rank(seat, {64, 64});
    const u64 sent = seat.rank == 0 ? 3 : 2;
    AllToAllV(rank, {{sent, sent}, {0, 8}, {2, 2}, {0, 8}}, HCCL_DATA_TYPE_INT8);
  });
  ASSERT_EQ(failed.size(), 2U);
  for (const Ending& ending : failed) {
    EXPECT_NE(ending.failure.find("rank 0 sends 3 elements to rank " + std::to_string(ending.rank) +
                                  ", which expects 2"),
              std::string::npos)
        << ending.failure;
  }
}

/// A rank that does not take part: the others are told whom they waited for, and for which of its notifies.
TEST(Threads, ARankThatStaysAwayIsNamed) {
  const u32 ranks = 3;
  Launch launch = {ranks, Form::kThreads};
  launch.timeout_seconds = 1;
  const Case what = {
      Collective::kRingAllGather, 1000, {HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM}, 0, FreshSeed()};
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Ending> failed = RunRanks(launch, [&](const Seat& seat) {
    Rank rank(seat, RoomFor(what, ranks));
    RunVerified(rank, what);
    if (seat.rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      return;
    }
    RunVerified(rank, what);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  ASSERT_EQ(failed.size(), 2U);
  for (const Ending& ending : failed) {
    EXPECT_NE(ending.rank, 1U);
    EXPECT_NE(ending.failure.find("rank 1"), std::string::npos) << ending.failure;
    EXPECT_TRUE(ending.failure.find("'done'") != std::string::npos ||
                ending.failure.find("'ready'") != std::string::npos)
        << ending.failure;
  }
}

}  // namespace
}  // namespace collectives::threads_test
