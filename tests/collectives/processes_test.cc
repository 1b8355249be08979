// Ranks as processes. This process forks them, so it makes no call of the runtime itself.
#include <gtest/gtest.h>

#include "case_list.h"

namespace collectives::processes_test {
namespace {

class EveryNumberOfProcesses : public testing::TestWithParam<u32> {};

TEST_P(EveryNumberOfProcesses, EveryCollective) {
  const u32 ranks = GetParam();
  ExpectVerified({ranks, Form::kProcesses}, ManyCases(ranks, FreshSeed()));
}
INSTANTIATE_TEST_SUITE_P(Ranks, EveryNumberOfProcesses, testing::Range(1U, 17U),
                         testing::PrintToStringParamName());

/// Under a chosen schedule one task runs at a time: fewer ranks and cases.
class EverySchedule : public testing::TestWithParam<u32> {};

TEST_P(EverySchedule, EveryCollective) {
  const u32 ranks = GetParam();
  ExpectVerified({ranks, Form::kProcesses}, SampleCases(ranks, FreshSeed()));
}
INSTANTIATE_TEST_SUITE_P(Ranks, EverySchedule, testing::Values(1U, 2U, 3U, 7U),
                         testing::PrintToStringParamName());

TEST(Processes, LargeOnes) {
  for (const Collective collective :
       {Collective::kRingAllGather, Collective::kRingReduceScatter, Collective::kBroadcast}) {
    ExpectVerified({3, Form::kProcesses},
                   {{collective, 1'000'003, {HCCL_DATA_TYPE_BFP16, HCCL_REDUCE_SUM}, 1, FreshSeed()}});
  }
}

}  // namespace
}  // namespace collectives::processes_test
