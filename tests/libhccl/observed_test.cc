// A trace and a summary change nothing: short operators are executed by the thread that calls them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/libhccl/case_list.h"
#include "tests/support/child_process.h"

namespace sampan::test {
namespace {

constexpr int kRounds = 30;
constexpr std::size_t kReceiveAt = 512 << 10, kBlock = 1 << 20;

/// An all-reduce, and whether it was over when its call returned. Not in place: one rank would have nothing
/// to do.
bool IsOverOnReturn(World& world, const DeviceBlock& block, std::size_t bytes) {
  Check(HcclAllReduce(block.at(), block.at(kReceiveAt), bytes, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM,
                      world.comm, world.stream));
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  Check(aclrtStreamQuery(world.stream, &status));
  world.Synchronize();
  return status == ACL_STREAM_STATUS_COMPLETE;
}

/// Runs the test in children: without an observer, with each of them, and with both.
bool DoneUnderEveryObserver() {
  if (InChild()) return false;
  const std::string trace =
      std::filesystem::temp_directory_path() / ("observed_test." + std::to_string(::getpid()) + ".json");
  for (const Variables& settings :
       {Variables{}, Variables{{"SAMPAN_TRACE", trace}}, Variables{{"SAMPAN_SUMMARY", "1"}},
        Variables{{"SAMPAN_TRACE", trace}, {"SAMPAN_SUMMARY", "1"}}}) {
    const ChildResult child = RunInChild(settings);
    EXPECT_TRUE(child.Passed()) << (settings.empty() ? "plain" : settings.front().first) << "\n" << child;
  }
  std::filesystem::remove(trace);
  return true;
}

/// More than what every task may take at once: only this way is it over.
TEST(Observed, AnOperatorOfOneRankIsOverOnReturn) {
  if (DoneUnderEveryObserver()) return;
  ExpectNone(RunWorlds(1, Form::kThreads, [&](World& world) {
    const DeviceBlock block(std::vector<u8>(kBlock, 7));
    for (const std::size_t bytes : {std::size_t{4096}, kReceiveAt}) {
      for (int round = 0; round < kRounds; ++round) {
        if (!IsOverOnReturn(world, block, bytes))
          throw Failure("an operator of " + std::to_string(bytes) + " bytes was left to an engine");
      }
    }
  }));
}

/// The rank that comes last finds all others there, so that it has nothing to wait for. On a busy machine an
/// engine may still be leaving the first rank's queue. Then it executes the next operator there too.
TEST(Observed, TheLastRankIsOverOnReturn) {
  if (DoneUnderEveryObserver()) return;
  std::atomic<int> turn{0};
  ExpectNone(RunWorlds(2, Form::kThreads, [&](World& world) {
    const DeviceBlock block(std::vector<u8>(kBlock, 1));
    int over_on_return = 0;
    for (int round = 0; round < kRounds; ++round) {
      if (world.rank == 0) {
        Check(HcclAllReduce(block.at(), block.at(kReceiveAt), 4096, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM,
                            world.comm, world.stream));
        turn.store(2 * round + 1);
      } else {
        while (turn.load() != 2 * round + 1)
          std::this_thread::yield();
        over_on_return += IsOverOnReturn(world, block, 4096) ? 1 : 0;
        turn.store(2 * round + 2);
      }
      while (turn.load() != 2 * round + 2)
        std::this_thread::yield();
      world.Synchronize();
    }
    if (world.rank == 1 && over_on_return == 0)
      throw Failure("every operator of the last rank was left to an engine");
  }));
}

}  // namespace
}  // namespace sampan::test
