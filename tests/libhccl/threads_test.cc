// The operators against the scalar model: ranks as threads.
#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <thread>

#include "tests/libhccl/case_list.h"
#include "tests/libhccl/random_program.h"

namespace sampan::test {
namespace {

class EveryNumberOfThreads : public testing::TestWithParam<u32> {};

/// collective-6, collective-7
TEST_P(EveryNumberOfThreads, EveryOperator) {
  ExpectVerified(GetParam(), Form::kThreads, ManyCases(GetParam(), FreshSeed()));
}
INSTANTIATE_TEST_SUITE_P(Ranks, EveryNumberOfThreads, testing::ValuesIn(RankNumbers({1, 2, 3, 4, 8})),
                         testing::PrintToStringParamName());

/// Under a chosen schedule one task runs at a time: fewer ranks and cases.
class EverySchedule : public testing::TestWithParam<u32> {};

TEST_P(EverySchedule, EveryOperator) {
  ExpectVerified(GetParam(), Form::kThreads, SampleCases(GetParam(), FreshSeed()));
}
INSTANTIATE_TEST_SUITE_P(Ranks, EverySchedule, testing::ValuesIn(RankNumbers({1, 2, 3, 7})),
                         testing::PrintToStringParamName());

/// Beyond the size from which outputs are written past the caches: whole blocks and a rest, outputs that
/// begin with a cache line and outputs that do not.
TEST(OperatorThreads, LargeOnes) {
  const auto run = [](Op op, u64 count, Placing placing) {
    ExpectVerified(2, Form::kThreads,
                   {{op, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, count, 1, placing, FreshSeed()}});
  };
  for (const Op op : {Op::kAllReduce, Op::kAllGather, Op::kBroadcast, Op::kReduceScatter, Op::kAllToAll}) {
    const bool whole = op == Op::kAllReduce || op == Op::kBroadcast;
    run(op, whole ? 2'200'003 : 1'100'001, Placing::kApart);
    run(op, whole ? 2'200'016 : 1'100'016, Placing::kApart);
  }
  run(Op::kAllReduce, 2'200'003, Placing::kInPlace);
}

TEST(OperatorThreads, RandomProgramsOverCommunicatorsAndStreams) {
  RunRandomPrograms(6, [](u64 seed, const std::function<void(World&)>& program) {
    return RunWorlds(2 + static_cast<u32>(seed % 4), Form::kThreads, program);
  });
}

/// collective-2: behind an operator, each rank writes over its buffers at once, while others may be late.
TEST(OperatorThreads, BuffersMayBeChangedBehindIt) {
  constexpr u64 kBlock = 8000;
  ExpectNone(RunWorlds(4, Form::kThreads, [](World& world) {
    const DeviceBlock send(kBlock * world.size), receive(kBlock * world.size);
    for (u8 round = 1; round <= 100; ++round) {
      send.Write(std::vector<u8>(kBlock * world.size, static_cast<u8>(round + world.rank)));
      Check(HcclAlltoAll(send.at(), kBlock, HCCL_DATA_TYPE_UINT8, receive.at(), kBlock, HCCL_DATA_TYPE_UINT8,
                         world.comm, world.stream));
      world.Synchronize();
      send.Write(std::vector<u8>(kBlock * world.size, 0xEE));
      const std::vector<u8> received = receive.Read();
      for (u64 i = 0; i < received.size(); ++i) {
        if (received[i] != static_cast<u8>(round + i / kBlock)) throw Failure("wrong contents");
      }
    }
  }));
}

/// More than the operators that can be in progress, and more than a stream holds.
TEST(OperatorThreads, ThousandQueuedOperators) {
  ExpectNone(RunWorlds(2, Form::kThreads, [](World& world) {
    const DeviceBlock block(std::vector<u8>(64, static_cast<u8>(world.rank + 1)));
    for (int i = 0; i < 1000; ++i)
      Check(HcclAllReduce(block.at(), block.at(), 64, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, world.comm,
                          world.stream));
    world.Synchronize();
    // 3, then twice as much each time: no bit is left in a byte.
    EXPECT_EQ(block.Read(), std::vector<u8>(64, 0));
    const DeviceBlock again(std::vector<u8>(64, static_cast<u8>(world.rank + 1)));
    for (int i = 0; i < 5; ++i)
      Check(HcclAllReduce(again.at(), again.at(), 64, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, world.comm,
                          world.stream));
    world.Synchronize();
    EXPECT_EQ(again.Read(), std::vector<u8>(64, 3 * 16));
  }));
}

/// collective-1: A thread calls all ranks of a communicator one after the other: no call waits for another
/// rank.
TEST(OperatorThreads, OneThreadCallsAllRanks) {
  int32_t devices[] = {0, 1, 2};
  HcclComm comms[3] = {};
  ASSERT_EQ(HcclCommInitAll(3, devices, comms), HCCL_SUCCESS) << aclGetRecentErrMsg();
  std::list<DeviceBlock> blocks;
  aclrtStream streams[3] = {};
  for (int rank = 0; rank < 3; ++rank) {
    Check(aclrtSetDevice(rank));
    Check(aclrtCreateStream(&streams[rank]));
    blocks.emplace_back(std::vector<u8>(40, static_cast<u8>(10 + rank)));
    Check(HcclAllReduce(blocks.back().at(), blocks.back().at(), 10, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_MAX,
                        comms[rank], streams[rank]));
  }
  for (int rank = 0; rank < 3; ++rank) {
    Check(aclrtSetDevice(rank));
    Check(aclrtSynchronizeStream(streams[rank]));
    Check(HcclCommDestroy(comms[rank]));
    Check(aclrtDestroyStream(streams[rank]));
  }
  for (const DeviceBlock& block : blocks)
    EXPECT_EQ(block.Read(), std::vector<u8>(40, 12));
}

/// A call may execute its operator itself while other threads put tasks into the same stream.
TEST(OperatorThreads, OtherThreadsUseTheStreamMeanwhile) {
  ExpectNone(RunWorlds(2, Form::kThreads, [](World& world) {
    constexpr int kTimes = 400;
    const DeviceBlock block(std::vector<u8>(64, static_cast<u8>(world.rank)));
    const DeviceBlock filled(std::vector<u8>(20'000, 0));
    int32_t device = 0;
    Check(aclrtGetDevice(&device));
    std::thread other([&] {
      EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      for (int i = 1; i <= kTimes; ++i)
        EXPECT_EQ(aclrtMemsetAsync(filled.at(), 20'000, i % 100, 20'000, world.stream), ACL_SUCCESS);
    });
    for (int i = 0; i < kTimes; ++i)
      Check(HcclAllReduce(block.at(), block.at(), 64, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_MAX, world.comm,
                          world.stream));
    other.join();
    world.Synchronize();
    EXPECT_EQ(block.Read(), std::vector<u8>(64, 1));
    EXPECT_EQ(filled.Read(), std::vector<u8>(20'000, kTimes % 100));
  }));
}

/// The comparison must be able to fail: one rank brings other data than the model says.
TEST(OperatorThreads, AWrongResultIsNoticed) {
  const OperatorCase what{Op::kAllGather, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, 100, 0, Placing::kApart, 1};
  const auto failed = RunWorlds(3, Form::kThreads, [&](World& world) {
    OperatorCase mine = what;
    if (world.rank == 1) mine.seed = 2;
    RunVerified(mine, world);
  });
  EXPECT_EQ(failed.size(), 3U);
}

}  // namespace
}  // namespace sampan::test
