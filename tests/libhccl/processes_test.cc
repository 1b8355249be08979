// The operators against the scalar model: ranks as processes. This process forks them, so it makes no call of
// the runtime itself.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "tests/libhccl/case_list.h"
#include "tests/libhccl/killed_rank.h"
#include "tests/libhccl/shared_word.h"

namespace sampan::test {
namespace {

class EveryNumberOfProcesses : public testing::TestWithParam<u32> {};

TEST_P(EveryNumberOfProcesses, EveryOperator) {
  ExpectVerified(GetParam(), Form::kProcesses, ManyCases(GetParam(), FreshSeed()));
}
INSTANTIATE_TEST_SUITE_P(Ranks, EveryNumberOfProcesses, testing::ValuesIn(RankNumbers({1, 2, 3, 4, 8})),
                         testing::PrintToStringParamName());

class EverySchedule : public testing::TestWithParam<u32> {};

TEST_P(EverySchedule, EveryOperator) {
  ExpectVerified(GetParam(), Form::kProcesses, SampleCases(GetParam(), FreshSeed()));
}
INSTANTIATE_TEST_SUITE_P(Ranks, EverySchedule, testing::ValuesIn(RankNumbers({2, 3})),
                         testing::PrintToStringParamName());

TEST(OperatorProcesses, LargeOnes) {
  for (const Op op : {Op::kAllReduce, Op::kAllGather}) {
    ExpectVerified(2, Form::kProcesses,
                   {{op, HCCL_DATA_TYPE_BFP16, HCCL_REDUCE_SUM, 4'300'007, 1, Placing::kApart, FreshSeed()}});
  }
}

/// A process that was killed in the middle: the others are told within a second, by name.
TEST(OperatorProcesses, AKilledRankIsNamed) {
  KillRanks(3, [](int) {
    ExpectTheKillIsTold(3, {.victim = 1, .max_ms = 1000, .named_as = "rank 1"},
                        [](const auto& body) { return RunWorlds(3, Form::kProcesses, body); });
  });
}

bool IsStopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.find(") T ") != std::string::npos;
}

/// collective-10: rank 0 notices the death of rank 1 and leaves while rank 2 is stopped. Rank 2 is told of
/// the death, and not that rank 0 has left.
TEST(OperatorProcesses, ARankThatLeavesHandsTheReasonOn) {
  for (int round = 0; round < 8; ++round) {
    const SharedWord<pid_t> victim, late;
    const auto failed = RunWorlds(3, Form::kProcesses, [&](World& world) {
      const DeviceBlock block(std::vector<u8>(4096, 1));
      const auto reduce = [&] {
        return HcclAllReduce(block.at(), block.at(), 10, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, world.comm,
                             world.stream);
      };
      if (world.rank == 1) {
        victim->store(::getpid());
        ::pause();
      }
      if (world.rank == 2) {
        Check(reduce());
        late->store(::getpid());
        ::raise(SIGSTOP);
        const aclError code = aclrtSynchronizeStream(world.stream);
        throw Failure(code == ACL_SUCCESS ? "no failure" : aclGetRecentErrMsg());
      }
      victim.Await();
      late.Await();
      while (!IsStopped(late->load()))
        ::usleep(500);
      ::kill(victim->load(), SIGKILL);
      for (HcclResult error = HCCL_SUCCESS; error == HCCL_SUCCESS; ::usleep(500))
        Check(HcclGetCommAsyncError(world.comm, &error));
      const std::string message = reduce() == HCCL_SUCCESS ? "no failure" : aclGetRecentErrMsg();
      const HcclResult left = HcclCommDestroy(std::exchange(world.comm, nullptr));
      ::kill(late->load(), SIGCONT);
      Check(left);
      throw Failure(message);
    });
    ASSERT_EQ(failed.size(), 3U);
    for (const u32 survivor : {0U, 2U})
      EXPECT_NE(failed[survivor].failure.find("rank 1 (process"), std::string::npos)
          << "rank " << survivor << ": " << failed[survivor].failure;
  }
}

/// collective-24: a sub-communicator goes on when a rank that is not in it has exited. That may be rank 0,
/// which keeps the ranks together. When a member exits, the sub-communicator breaks.
TEST(OperatorProcesses, ARankThatExitsBreaksItsOwnCommunicatorsOnly) {
  for (const u32 outsider : {0U, 2U}) {
    SCOPED_TRACE(outsider);
    const SharedWord<int> made, checked;
    const auto failed = RunWorlds(3, Form::kProcesses, [&](World& world) {
      if (world.rank == outsider) {
        while (made->load() < 2)
          ::usleep(500);
        ::_exit(0);
      }
      uint32_t members[] = {outsider == 0 ? 1U : 0U, outsider == 2 ? 1U : 2U};
      HcclCommConfig config = ConfigWithLimit(60);
      HcclComm pair = nullptr;
      const u32 place = world.rank == members[0] ? 0 : 1;
      Check(HcclCreateSubCommConfig(&world.comm, 2, members, 7, place, &config, &pair));
      ++*made.operator->();
      for (HcclResult error = HCCL_SUCCESS; error == HCCL_SUCCESS; ::usleep(500))
        Check(HcclGetCommAsyncError(world.comm, &error));
      const DeviceBlock block(std::vector<u8>(40'000, 1));
      const auto reduce = [&] {
        return HcclAllReduce(block.at(), block.at(), 10'000, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, pair,
                             world.stream);
      };
      Check(reduce());
      world.Synchronize();
      ++*checked.operator->();
      while (checked->load() < 2)
        ::usleep(500);
      if (place == 1) ::_exit(0);
      const bool fails = reduce() != HCCL_SUCCESS || aclrtSynchronizeStream(world.stream) != ACL_SUCCESS;
      const std::string message = fails ? aclGetRecentErrMsg() : "";
      if (message.find("rank 1 (process") == std::string::npos ||
          message.find(" has exited") == std::string::npos)
        throw Failure("not the wanted failure: " + message);
      Check(HcclCommDestroy(pair));
    });
    for (const Ending& ending : failed)
      ADD_FAILURE() << "rank " << ending.rank << ": " << ending.failure;
  }
}

/// collective-9: both calls are named, each by the program's file and line of its own process.
TEST(OperatorProcesses, ADisagreementNamesBothPlaces) {
  const auto failed = RunWorlds(2, Form::kProcesses, [](World& world) {
    const DeviceBlock block(std::vector<u8>(4096, 1));
    if (world.rank == 0)
      Check(HcclBroadcast(block.at(), 10, HCCL_DATA_TYPE_INT32, 0, world.comm, world.stream));
    else
      Check(HcclBroadcast(block.at(), 11, HCCL_DATA_TYPE_INT32, 0, world.comm, world.stream));
    const aclError code = aclrtSynchronizeStream(world.stream);
    const std::string message = code == ACL_SUCCESS ? "no failure" : aclGetRecentErrMsg();
    std::size_t places = 0;
    for (const char* const part : {"processes_test.cc:", "libhccl_processes+0x"}) {
      for (std::size_t at = message.find(part); at != std::string::npos; at = message.find(part, at + 1))
        ++places;
    }
    for (const char* const part : {"EI0005", "the count differs", ") called HcclBroadcast of 10 int32",
                                   ") called HcclBroadcast of 11 int32"}) {
      if (message.find(part) == std::string::npos || places < 2)
        throw Failure(std::string(part) + " or a place is not in: " + message);
    }
  });
  for (const Ending& ending : failed)
    ADD_FAILURE() << "rank " << ending.rank << ": " << ending.failure;
}

/// Rank 1 comes 1.5 s late. The limit is HCCL_EXEC_TIMEOUT.
std::vector<Ending> RunWithALateRank(const char* limit) {
  SharedRootInfo root;
  return RunRanks({2, Form::kProcesses, 60}, [&](const Seat& seat) {
    ::setenv("HCCL_EXEC_TIMEOUT", limit, 1);
    HcclCommConfig config;
    HcclCommConfigInit(&config);
    World world(seat, root, config);
    if (world.rank == 1) ::usleep(1'500'000);
    Check(HcclBarrier(world.comm, world.stream));
    world.Synchronize();
  });
}

/// collective-10
TEST(OperatorProcesses, TheLimitOfTheEnvironmentActs) {
  const auto failed = RunWithALateRank("1");
  ASSERT_EQ(failed.size(), 2U);
  EXPECT_NE(failed[0].failure.find("ran past its time limit of 1 s on rank 0"), std::string::npos)
      << failed[0].failure;
  for (const Ending& ending : RunWithALateRank("0"))  // no limit
    ADD_FAILURE() << "rank " << ending.rank << ": " << ending.failure;
}

/// cuda-11
TEST(OperatorProcesses, RanksAreRefusedOnAGpu) {
  const auto failed = RunWorlds(2, Form::kProcesses, [](World&) {});
  ASSERT_EQ(failed.size(), 2U);
  for (const Ending& ending : failed) {
    EXPECT_EQ(ending.failure.find("HcclResult 5"), 0U) << ending.failure;
    EXPECT_NE(ending.failure.find("all ranks have to be threads of one process"), std::string::npos)
        << ending.failure;
  }
}

/// collective-13, collective-26: processes share memory of aclrtMalloc. Memory that the program maps is
/// refused.
TEST(OperatorProcesses, MemoryThatTheProgramMapsIsRefused) {
  constexpr std::size_t kPiece = std::size_t{2} << 20;
  SharedRootInfo root;
  const auto failed = RunRanks({2, Form::kProcesses, 60}, [&](const Seat& seat) {
    ::setenv("SAMPAN_PROFILE", "ascend910c", 1);  // which can activate memory
    const World world(seat, root);
    int32_t device = 0;
    Check(aclrtGetDevice(&device));
    aclrtPhysicalMemProp prop = {};
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location = {static_cast<u32>(device), ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtDrvMemHandle piece = nullptr;
    void* range = nullptr;
    Check(aclrtReserveMemAddress(&range, kPiece, 0, nullptr, 0));
    Check(aclrtMallocPhysical(&piece, kPiece, &prop, 0));
    Check(aclrtMapMem(range, kPiece, 0, piece, 0));
    Check(HcclCommSetMemoryRange(world.comm, range, kPiece, 0, 0));
    const HcclResult activated = HcclCommActivateCommMemory(world.comm, range, kPiece, 0, piece, 0);
    const std::string why = aclGetRecentErrMsg();
    if (activated != HCCL_E_NOT_SUPPORT || why.find("is another process") == std::string::npos)
      throw Failure(std::to_string(activated) + " " + why);
    Check(
        HcclAllReduce(range, range, 10'000, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, world.comm, world.stream));
    const aclError code = aclrtSynchronizeStream(world.stream);
    const std::string message = code == ACL_SUCCESS ? "no failure" : aclGetRecentErrMsg();
    if (code != 107020 || message.find("mapped in parts or imported") == std::string::npos)
      throw Failure(message);
    Check(aclrtUnmapMem(range));
    Check(aclrtFreePhysical(piece));
    Check(aclrtReleaseMemAddress(range));
  });
  for (const Ending& ending : failed)
    ADD_FAILURE() << "rank " << ending.rank << ": " << ending.failure;
}

constexpr std::size_t kLongBytes = std::size_t{128} << 20;

/// Rank 1 is stopped while it writes into the memory of rank 0. Rank 0 gives up, frees the memory, and writes
/// to new memory. Then rank 1 goes on. The failure is "late" if it was stopped too late.
std::string StopAWriter() {
  const SharedWord<pid_t> writer;
  const SharedWord<int> is_over;
  const auto failed = RunWorlds(
      2, Form::kProcesses,
      [&](World& world) {
        auto block = std::make_unique<DeviceBlock>(std::vector<u8>(kLongBytes, 1));
        if (world.rank == 1) writer->store(::getpid());
        Check(HcclAllReduce(block->at(), block->at(), kLongBytes, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM,
                            world.comm, world.stream));
        if (world.rank == 1) {
          aclrtSynchronizeStream(world.stream);
          is_over->store(1);
          return;
        }
        // The part of rank 1 is the second half.
        for (u8 seen = 1; seen == 1;) {
          if (is_over->load() != 0) {  // rank 1 gave up, because this rank was not there in time
            aclrtSynchronizeStream(world.stream);
            throw Failure("late");
          }
          Check(aclrtMemcpy(&seen, 1, block->at(kLongBytes / 2), 1, ACL_MEMCPY_DEVICE_TO_HOST));
        }
        ::kill(writer->load(), SIGSTOP);
        const bool has_failed = aclrtSynchronizeStream(world.stream) != ACL_SUCCESS;
        const void* const place = block->at();
        block.reset();
        // Addresses are used round robin: new memory until it is where the old one was.
        const std::vector<u8> mine(kLongBytes, 0x55);
        auto again = std::make_unique<DeviceBlock>(kLongBytes);
        for (int tries = 0; tries < 10'000 && again->at() != place; ++tries) {
          again.reset();
          again = std::make_unique<DeviceBlock>(kLongBytes);
        }
        again->Write(mine);
        ::kill(writer->load(), SIGCONT);
        if (!has_failed) throw Failure("late");
        is_over.Await();
        if (again->Read() != mine) throw Failure("another rank wrote into new memory");
        HcclResult error = HCCL_SUCCESS;
        Check(HcclGetCommAsyncError(world.comm, &error));
        again.reset();
        const DeviceBlock all(kLongBytes * 7 / 2);  // fits only if the first block is free
      },
      1);
  std::string failure;
  for (const Ending& ending : failed)
    failure += ending.failure;
  return failure;
}

/// collective-22
TEST(OperatorProcesses, AStoppedRankDoesNotWriteIntoNewMemory) {
  for (int round = 0; round < 8; ++round) {
    const std::string failure = StopAWriter();
    if (failure == "late") continue;
    EXPECT_EQ(failure, "");
    return;
  }
  GTEST_SKIP() << "rank 1 was never stopped in time";
}

/// At the limit the others name it, and say why it does not come.
TEST(OperatorProcesses, AStoppedRankIsNamed) {
  void* const memory =
      ::mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const stopped = new (memory) std::atomic<pid_t>(0);
  const auto failed = RunWorlds(
      3, Form::kProcesses,
      [&](World& world) {
        const DeviceBlock block(std::vector<u8>(4096, 1));
        if (world.rank == 1) {
          stopped->store(::getpid());
          ::raise(SIGSTOP);
          return;
        }
        Check(HcclAllReduce(block.at(), block.at(), 10, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, world.comm,
                            world.stream));
        const aclError code = aclrtSynchronizeStream(world.stream);
        const std::string message = aclGetRecentErrMsg();
        ::kill(stopped->load(), SIGCONT);
        throw Failure(std::to_string(code) + " " + message);
      },
      2);
  ASSERT_EQ(failed.size(), 2U);
  for (const Ending& ending : failed) {
    for (const char* part : {"107020", "EI0002", "rank 1 (process", "the process is stopped"})
      EXPECT_NE(ending.failure.find(part), std::string::npos) << part << ": " << ending.failure;
  }
  ::munmap(memory, sizeof(pid_t));
}

}  // namespace
}  // namespace sampan::test
