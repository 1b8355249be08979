// Trouble between ranks of two hosts, and what is refused.
#include <gtest/gtest.h>

#include "tests/libhccl/killed_rank.h"
#include "tests/libhccl/ranks_on_hosts.h"

namespace sampan::test::trouble_on_hosts {
namespace {

class TroubleOnHosts : public OnHosts {};
INSTANTIATE_TEST_SUITE_P(By, TroubleOnHosts,
                         testing::Values(WayAndSize{Way::kCable, 4}, WayAndSize{Way::kTable, 2}), WayName);

/// collective-9: on all ranks, with both calls and their places.
TEST_P(TroubleOnHosts, ADisagreementNamesBothPlaces) {
  const auto failed = Run([](World& world) {
    const DeviceBlock block(std::vector<u8>(100'000, 1));
    for (int i = 0; i < 3; ++i)
      Check(HcclBarrier(world.comm, world.stream));
    const bool differs = world.rank + 1 == world.size;
    Check(HcclAllReduce(block.at(), block.at(), differs ? 10'001 : 10'000, HCCL_DATA_TYPE_FP32,
                        HCCL_REDUCE_SUM, world.comm, world.stream));
    const aclError code = aclrtSynchronizeStream(world.stream);
    throw Failure(std::to_string(code) + " " + aclGetRecentErrMsg());
  });
  ASSERT_EQ(failed.size(), size());
  for (const Ending& ending : failed) {
    const std::string last = "rank " + std::to_string(size() - 1) + " (process ";
    for (const std::string& part :
         {std::string("EI0005"), std::string("the count differs"), last,
          std::string(" of 10000 fp32 (sum) in "), std::string(" of 10001 fp32 (sum) in ")})
      EXPECT_NE(ending.failure.find(part), std::string::npos) << part << ": " << ending.failure;
    // Without debug information, a place is an offset in the program.
    const bool has_lines = ending.failure.find("hosts_test.cc:") != std::string::npos;
    EXPECT_TRUE(has_lines || ending.failure.find("libhccl_hosts+0x") != std::string::npos) << ending.failure;
  }
}

/// collective-10: a rank of the other host that does not come is named at the limit, with its last call.
TEST_P(TroubleOnHosts, ALateRankIsNamed) {
  const auto failed = Run(
      [](World& world) {
        const DeviceBlock block(std::vector<u8>(4096, 1));
        Check(HcclBroadcast(block.at(), 10, HCCL_DATA_TYPE_INT32, 0, world.comm, world.stream));
        world.Synchronize();
        if (world.rank == 0)
          Check(HcclAllReduce(block.at(), block.at(), 10, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, world.comm,
                              world.stream));
        const aclError code = aclrtSynchronizeStream(world.stream);
        if (code != ACL_SUCCESS) throw Failure(aclGetRecentErrMsg());
        HcclResult error = HCCL_SUCCESS;
        for (int look = 0; look < 40'000 && error == HCCL_SUCCESS; ++look, ::usleep(500))
          Check(HcclGetCommAsyncError(world.comm, &error));
        if (error != HCCL_E_TIMEOUT) throw Failure("it is not told: " + std::to_string(error));
      },
      2);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].rank, 0U) << failed[0].failure;
  const std::string last = "rank " + std::to_string(size() - 1) + " (process ";
  const std::size_t named = failed[0].failure.find(last);
  ASSERT_NE(named, std::string::npos) << failed[0].failure;
  EXPECT_NE(
      failed[0].failure.find("has called 1 collective operators, its last call is HcclBroadcast", named),
      std::string::npos)
      << failed[0].failure;
}

/// collective-10: all others are told long before the limit, also of rank 0, which keeps the ranks together.
TEST_P(TroubleOnHosts, AKilledRankIsNamed) {
  KillRanks(2, [&](int number) {
    const u32 victim = number % 2 == 0 ? size() - 1 : 0U;
    SCOPED_TRACE(victim);
    // A copy may fail first: it names the process.
    ExpectTheKillIsTold(size(),
                        {.victim = victim, .max_ms = KillsMany() ? 1000 : 10'000, .named_as = "process "},
                        [&](const auto& body) { return Run(body); });
  });
}

/// collective-27: what the program maps itself has no key for other hosts.
TEST_P(TroubleOnHosts, MemoryThatTheProgramMapsIsRefused) {
  ExpectNone(Run([](World& world) {
    constexpr std::size_t kPiece = std::size_t{2} << 20;
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
    const auto reduce = [&](u64 count) {
      return HcclAllReduce(range, range, count, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, world.comm,
                           world.stream);
    };
    if (reduce(10'000) != HCCL_E_NOT_SUPPORT ||
        std::string(aclGetRecentErrMsg()).find("memory of aclrtMalloc only") == std::string::npos)
      throw Failure(aclGetRecentErrMsg());
    Check(reduce(10));  // short ones are posted
    world.Synchronize();
    Check(aclrtUnmapMem(range));
    Check(aclrtFreePhysical(piece));
    Check(aclrtReleaseMemAddress(range));
  }));
}

/// collective-27: both sides say what is needed.
TEST_P(TroubleOnHosts, OtherChipsHaveRanksOfOneHost) {
  // By root info, rank 0 waits for the others up to HCCL_CONNECT_TIMEOUT, which is 2 minutes at least.
  if (way() == Way::kCable) GTEST_SKIP() << "a rank table of two servers has run";
  const auto failed = Run([](World&) {}, 60, "ascend910b");
  ASSERT_EQ(failed.size(), 2U);
  for (const Ending& ending : failed) {
    EXPECT_EQ(ending.failure.find("HcclResult 5"), 0U) << ending.failure;
    EXPECT_NE(ending.failure.find("SAMPAN_PROFILE=ascend910c"), std::string::npos) << ending.failure;
  }
}

/// hccl-16: rank 0, whose process passes on what the hosts tell each other, has left its communicator.
TEST_P(TroubleOnHosts, RankZeroLeavesFirst) {
  if (size() < 4) GTEST_SKIP() << "there are no two other ranks on two hosts";
  ExpectNone(Run([](World& world) {
    Check(HcclBarrier(world.comm, world.stream));
    world.Synchronize();
    if (world.rank == 0) return;
    const DeviceBlock block(std::vector<u8>(10'000, 1));
    for (int i = 0; i < 30; ++i, ::usleep(20'000)) {
      if (world.rank == 1)
        Check(HcclSend(block.at(), 10'000, HCCL_DATA_TYPE_INT8, 3, world.comm, world.stream));
      if (world.rank == 3)
        Check(HcclRecv(block.at(), 10'000, HCCL_DATA_TYPE_INT8, 1, world.comm, world.stream));
      world.Synchronize();
    }
  }));
}

/// collective-28: ranks 0 and 1 are on host a.
TEST_P(TroubleOnHosts, ARankThatExitsBreaksTheOthersBetweenHosts) {
  if (size() < 4) GTEST_SKIP() << "there are no two other ranks on two hosts";
  const auto failed = Run([](World& world) {
    const auto divide = [&](std::vector<uint32_t> members, uint64_t id) {
      HcclCommConfig config = ConfigWithLimit(60);
      HcclComm made = nullptr;
      const u32 place = world.rank == members[0] ? 0 : 1;
      Check(HcclCreateSubCommConfig(&world.comm, 2, members.data(), id, place, &config, &made));
      return made;
    };
    // Of one host: goes on. Of two: breaks. Rank 3 exits without a word.
    HcclComm of_one = nullptr, of_two = nullptr;
    if (world.rank < 2) of_one = divide({0, 1}, 7);
    if (world.rank == 0 || world.rank == 2) of_two = divide({0, 2}, 8);
    Check(HcclBarrier(world.comm, world.stream));
    world.Synchronize();
    if (world.rank == 3) ::_exit(0);
    HcclResult error = HCCL_SUCCESS;
    for (int look = 0; look < 40'000 && error == HCCL_SUCCESS; ++look, ::usleep(500))
      Check(HcclGetCommAsyncError(of_two != nullptr ? of_two : world.comm, &error));
    if (error != HCCL_E_REMOTE) throw Failure("it is not told: " + std::to_string(error));
    if (of_one == nullptr) return;
    Check(HcclBarrier(of_one, world.stream));
    world.Synchronize();
  });
  ExpectNone(failed);
}

/// collective-27: in a process of its own, because the variables are read there.
TEST(RootInfos, OfSeveralHostsAreChecked) {
  ExpectNone(RunRanks({1, Form::kProcesses}, [](const Seat&) {
    const auto expect = [](HcclResult wanted, const char* part, HcclResult answer) {
      const char* const message = aclGetRecentErrMsg();
      if (answer != wanted || message == nullptr || std::string(message).find(part) == std::string::npos)
        throw Failure(std::to_string(answer) + " " + (message == nullptr ? "" : message));
    };
    Check(aclrtSetDevice(0));
    ::setenv("HCCL_SOCKET_IFNAME", "=lo", 1);
    const int taken = ::socket(AF_INET, SOCK_STREAM, 0);
    const int port = BindToLoopback(taken);
    ::listen(taken, 1);
    HcclRootInfo info, other;
    ::setenv("HCCL_HOST_SOCKET_PORT_RANGE", std::to_string(port).c_str(), 1);
    expect(HCCL_E_UNAVAIL, "EI0019", HcclGetRootInfo(&info));
    ::setenv("HCCL_HOST_SOCKET_PORT_RANGE", "9-8", 1);
    expect(HCCL_E_PARA, "EI0001", HcclGetRootInfo(&info));
    ::close(taken);
    ::setenv("HCCL_HOST_SOCKET_PORT_RANGE", "auto", 1);
    Check(HcclGetRootInfo(&info));
    other = info;
    constexpr std::size_t kAddressAt = 16 + 2 * 64, kHostAt = kAddressAt + 64;
    other.internal[kHostAt] = static_cast<char>(other.internal[kHostAt] ^ 1);
    HcclComm comm = nullptr;
    expect(HCCL_E_NOT_SUPPORT, "must be called by rank 0", HcclCommInitRootInfo(2, &other, 0, &comm));
    other.internal[kAddressAt] = '\0';
    expect(HCCL_E_NOT_SUPPORT, "whose root info is for one host", HcclCommInitRootInfo(2, &other, 1, &comm));
  }));
}

}  // namespace
}  // namespace sampan::test::trouble_on_hosts
