// A ring all-gather on the transport: many small slices, both directions of every link in use.
#include <gtest/gtest.h>

#include "tests/hccl/rank_threads.h"

namespace sampan::test::ring_test {
namespace {

using hccl::UserMemType;

/// Each rank's slice is in its output already; after n - 1 steps every rank has all of them.
void RingAllGather(RankWorld& world, hccl::DeviceMem& output, u64 slice) {
  const std::uint32_t n = world.size;
  hccl::Transport& next = *world.links[(world.rank + 1) % n];
  hccl::Transport& before = *world.links[(world.rank + n - 1) % n];
  for (std::uint32_t step = 0; step + 1 < n; ++step) {
    const u64 send = (world.rank + n - step) % n * slice;
    const u64 receive = (world.rank + 2 * n - step - 1) % n * slice;
    EXPECT_HCCL(HCCL_SUCCESS, before.TxAck(world.stream));
    EXPECT_HCCL(HCCL_SUCCESS, next.RxAck(world.stream));
    EXPECT_HCCL(HCCL_SUCCESS, next.TxAsync(UserMemType::OUTPUT_MEM, send,
                                           static_cast<u8*>(output.ptr()) + send, slice, world.stream));
    EXPECT_HCCL(HCCL_SUCCESS, before.RxAsync(UserMemType::OUTPUT_MEM, receive,
                                             static_cast<u8*>(output.ptr()) + receive, slice, world.stream));
    EXPECT_HCCL(HCCL_SUCCESS, before.RxWaitDone(world.stream));
    EXPECT_HCCL(HCCL_SUCCESS, next.TxWaitDone(world.stream));
  }
}

class RingTest : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(RingTest, EveryRankHasEverything) {
  for (const u64 slice : {u64{1}, u64{4096}, u64{100003}}) {
    Random random;
    const Bytes expected = random.Fill(slice * GetParam());
    RunRanks(GetParam(), [&](RankWorld& world) {
      Bytes own(expected.size(), std::byte{0xEE});
      std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(world.rank * slice), slice,
                  own.begin() + static_cast<std::ptrdiff_t>(world.rank * slice));
      hccl::DeviceMem output = DeviceBytes(own);
      hccl::MachinePara para;
      para.inputMem = output;
      para.outputMem = output;
      world.Connect(para);
      if (world.size > 1) RingAllGather(world, output, slice);
      world.Synchronize();
      EXPECT_TRUE(HostBytes(output) == expected) << "rank " << world.rank << ", slice " << slice;
      EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
      world.links.clear();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RingTest, ::testing::Values(1, 2, 3, 8, 16));

}  // namespace
}  // namespace sampan::test::ring_test
