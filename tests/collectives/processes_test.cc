// Ranks as processes. This process forks them, so it makes no call of the runtime itself.
#include <gtest/gtest.h>

#include "case_list.h"

namespace collectives {
namespace {

class EveryNumberOfProcesses : public testing::TestWithParam<u32> {};

TEST_P(EveryNumberOfProcesses, EveryCollective) {
  const u32 ranks = GetParam();
  ExpectVerified({ranks, Form::kProcesses},
                 ranks <= 4 ? ManyCases(ranks, FreshSeed()) : FewCases(ranks, FreshSeed()));
}
INSTANTIATE_TEST_SUITE_P(Ranks, EveryNumberOfProcesses, testing::Range(1U, 17U),
                         testing::PrintToStringParamName());

TEST(Processes, LargeOnes) {
  for (const Collective collective :
       {Collective::kRingAllGather, Collective::kRingReduceScatter, Collective::kBroadcast}) {
    ExpectVerified({3, Form::kProcesses},
                   {{collective, 1'000'003, {HCCL_DATA_TYPE_BFP16, HCCL_REDUCE_SUM}, 1, FreshSeed()}});
  }
}

}  // namespace
}  // namespace collectives
