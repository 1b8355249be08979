// The operators with ranks of two hosts, against the scalar model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "tests/libhccl/random_program.h"
#include "tests/libhccl/ranks_on_hosts.h"

namespace sampan::test::operators_on_hosts {
namespace {

class OperatorsOnHosts : public OnHosts {};
INSTANTIATE_TEST_SUITE_P(By, OperatorsOnHosts,
                         testing::Values(WayAndSize{Way::kCable, 4}, WayAndSize{Way::kTable, 2}), WayName);

/// The same tests with every number of ranks.
class EveryNumberOnHosts : public OnHosts {};

std::vector<WayAndSize> EveryNumber() {
  std::vector<WayAndSize> all = {{Way::kTable, 2}};
  for (const u32 ranks : RankNumbers({4}))
    all.emplace_back(Way::kCable, ranks);
  return all;
}
INSTANTIATE_TEST_SUITE_P(By, EveryNumberOnHosts, testing::ValuesIn(EveryNumber()), WayName);

TEST_P(EveryNumberOnHosts, EveryOperator) {
  const u64 seed = FreshSeed();
  const std::vector<OperatorCase> cases = SampleCases(size(), seed);
  ExpectNone(Run([&](World& world) {
    for (const OperatorCase& what : cases)
      RunVerified(what, world);
  }));
}

TEST_P(OperatorsOnHosts, LargeOnes) {
  ExpectNone(Run([&](World& world) {
    // More than a block of the moves, and than a share of whole cache lines.
    for (const Op op : {Op::kAllReduce, Op::kBroadcast})
      RunVerified({op, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, 1'200'007, 1, Placing::kApart, 7}, world);
  }));
}

/// collective-3: the bits are those of one host: the ranks' inputs added one after the other.
TEST_P(OperatorsOnHosts, SumsAreInTheOrderOfTheRanks) {
  constexpr u64 kCount = 70'001;
  const u64 seed = FreshSeed();
  const auto input_of = [&](u32 rank) {
    std::mt19937_64 random(seed + rank);
    std::vector<float> values(kCount);
    for (float& value : values)
      value = std::ldexp(static_cast<float>(random() % 1000), static_cast<int>(random() % 40) - 20);
    return values;
  };
  ExpectNone(Run([&](World& world) {
    std::vector<float> expected = input_of(0), got(kCount);
    for (u32 rank = 1; rank < size(); ++rank) {
      const std::vector<float> next = input_of(rank);
      std::transform(expected.begin(), expected.end(), next.begin(), expected.begin(), std::plus<>());
    }
    const std::vector<float> mine = input_of(world.rank);
    const DeviceBlock block(kCount * sizeof(float));
    Check(aclrtMemcpy(block.at(), kCount * sizeof(float), mine.data(), kCount * sizeof(float),
                      ACL_MEMCPY_HOST_TO_DEVICE));
    Check(HcclAllReduce(block.at(), block.at(), kCount, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, world.comm,
                        world.stream));
    world.Synchronize();
    Check(aclrtMemcpy(got.data(), kCount * sizeof(float), block.at(), kCount * sizeof(float),
                      ACL_MEMCPY_DEVICE_TO_HOST));
    if (std::memcmp(got.data(), expected.data(), kCount * sizeof(float)) != 0)
      throw Failure("the bits differ, seed " + std::to_string(seed));
  }));
}

/// Queued operators of two communicators, one of them of a rank of each host, on two streams; and a second
/// one with the same members.
TEST_P(OperatorsOnHosts, CommunicatorsOfSomeRanks) {
  ExpectNone(Run([&](World& world) {
    const u32 last = world.size - 1;
    aclrtStream second = nullptr;
    Check(aclrtCreateStream(&second));
    const DeviceBlock all(std::vector<u8>(50'000, 1));
    for (int round = 0; round < 2; ++round) {
      HcclComm pair = nullptr;
      uint32_t members[] = {0, last};
      HcclCommConfig config = ConfigWithLimit(60);
      const bool is_member = world.rank == 0 || world.rank == last;
      if (is_member)
        Check(HcclCreateSubCommConfig(&world.comm, 2, members, 7, world.rank == 0 ? 0 : 1, &config, &pair));
      const DeviceBlock of_pair(std::vector<u8>(50'000, 1));
      for (int i = 0; i < 20; ++i) {
        const u64 count = i % 2 == 0 ? 100 : 50'000;
        Check(HcclBroadcast(all.at(), count, HCCL_DATA_TYPE_INT8, last, world.comm, world.stream));
        if (is_member)
          Check(HcclAllReduce(of_pair.at(), of_pair.at(), count, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, pair,
                              second));
      }
      world.Synchronize();
      Check(aclrtSynchronizeStream(second));
      if (!is_member) continue;
      const std::vector<u8> sums = of_pair.Read();
      // 20 sums of two double the first 100 bytes, 10 the others; of 8 bits.
      if (sums.front() != 0 || sums.back() != 0) throw Failure("wrong sums: " + std::to_string(sums.back()));
      Check(HcclCommDestroy(pair));
    }
    Check(aclrtDestroyStream(second));
  }));
}

/// Memory is freed and allocated again between operators: each allocation has a key of its own.
TEST_P(OperatorsOnHosts, MemoryThatIsAllocatedAgain) {
  ExpectNone(Run([](World& world) {
    for (u8 round = 1; round < 20; ++round) {
      const DeviceBlock block(std::vector<u8>(100'000, round));
      Check(HcclAllReduce(block.at(), block.at(), 100'000, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, world.comm,
                          world.stream));
      world.Synchronize();
      if (block.Read() != std::vector<u8>(100'000, static_cast<u8>(world.size * round)))
        throw Failure("wrong sums in round " + std::to_string(round));
    }
  }));
}

/// Queued over three communicators, one of them of some ranks, and two streams.
TEST_P(OperatorsOnHosts, RandomPrograms) {
  RunRandomPrograms(1, [&](u64, const std::function<void(World&)>& program) { return Run(program); });
}

}  // namespace
}  // namespace sampan::test::operators_on_hosts
