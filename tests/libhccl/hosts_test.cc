// The operators with ranks as processes of two hosts. These are network namespaces, or over loopback the two
// servers of a rank table. This process forks them, so it makes no call of the runtime itself.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <thread>
#include <utility>

#include "tests/hosts/two_hosts.h"
#include "tests/libhccl/case_list.h"

namespace sampan::test::operators_on_hosts {
namespace {

using Clock = std::chrono::steady_clock;

/// How ranks meet.
enum class Way {
  kCable,  ///< by a root info; the first half of the ranks lives on host a
  kTable,  ///< by a rank table of two servers, which are this host
};

/// A time that ranks as processes share. Made before the ranks.
class SharedTime {
 public:
  SharedTime()
      : time_(new (::mmap(nullptr, sizeof(Time), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                  Time(0)) {}
  ~SharedTime() { ::munmap(time_, sizeof(Time)); }
  SharedTime(const SharedTime&) = delete;
  SharedTime& operator=(const SharedTime&) = delete;
  std::atomic<Clock::rep>* operator->() const { return time_; }

 private:
  using Time = std::atomic<Clock::rep>;
  Time* time_;
};

/// Returns the port.
int BindToLoopback(int socket) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(name);
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&name), bytes), 0);
  EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &bytes), 0);
  return ntohs(name.sin_port);
}

class OnHosts : public testing::TestWithParam<std::pair<Way, u32>> {
 protected:
  static void SetUpTestSuite() { hosts = new TwoHosts; }
  static void TearDownTestSuite() { delete std::exchange(hosts, nullptr); }
  void SetUp() override {
#ifdef WITHOUT_NAMESPACES
    if (way() == Way::kCable) GTEST_SKIP() << "without a sanitizer only";
#endif
    if (way() == Way::kCable && !hosts->made())
      GTEST_SKIP() << "network namespaces cannot be made here: root and the command ip are needed";
    if (way() == Way::kTable) WriteTable();
  }
  void TearDown() override {
    ::unlink(table.c_str());
  }
  static Way way() {
    return GetParam().first;
  }
  static u32 size() {
    return GetParam().second;
  }
  static bool IsOnA(u32 rank) {
    return rank < size() / 2;
  }

  /// Runs the ranks, each in a process.
  std::vector<Ending> Run(const std::function<void(World&)>& body, s32 limit_seconds = 60,
                          const char* profile = "ascend910c") const {
    SharedRootInfo root;
    return RunRanks({size(), Form::kProcesses, limit_seconds}, [&](const Seat& seat) {
      ::setenv("SAMPAN_PROFILE", profile, 1);
      if (way() == Way::kCable) {
        if (IsOnA(seat.rank)) hosts->GoToHostA();
        World world(seat, root);
        body(world);
        return;
      }
      ::setenv("HCCL_IF_BASE_PORT", port.c_str(), 1);
      ::setenv("SAMPAN_DEVICES", std::to_string(size()).c_str(), 1);
      HcclCommConfig config = ConfigWithLimit(seat.timeout_seconds);
      World world(seat, [&](HcclComm* made) {
        return HcclCommInitClusterInfoConfig(table.c_str(), seat.rank, &config, made);
      });
      body(world);
    });
  }

  inline static TwoHosts* hosts = nullptr;
  std::string table, port;

 private:
  void WriteTable() {
    port = std::to_string(FreePort());
    table = testing::TempDir() + "two_servers_" + std::to_string(::getpid()) + ".json";
    std::ofstream out(table);
    out << R"({"version": "1.0", "status": "completed", "server_count": "2", "server_list": [)";
    for (const bool on_a : {true, false}) {
      out << (on_a ? "" : ", ") << R"({"server_id": ")" << (on_a ? "127.0.0.1" : "127.0.0.2")
          << R"(", "device": [)";
      const char* comma = "";
      for (u32 rank = 0; rank < size(); ++rank) {
        if (IsOnA(rank) != on_a) continue;
        out << comma << R"({"device_id": ")" << rank << R"(", "rank_id": ")" << rank << R"("})";
        comma = ", ";
      }
      out << "]}";
    }
    out << "]}";
  }
  static int FreePort() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const int free = BindToLoopback(socket);
    ::close(socket);
    return free;
  }
};

INSTANTIATE_TEST_SUITE_P(By, OnHosts, testing::Values(std::pair{Way::kCable, 4U}, std::pair{Way::kTable, 2U}),
                         [](const auto& each) {
                           return (each.param.first == Way::kCable ? "Cable" : "Table") +
                                  std::to_string(each.param.second);
                         });

TEST_P(OnHosts, EveryOperator) {
  const u64 seed = FreshSeed();
  const std::vector<OperatorCase> cases = SampleCases(size(), seed);
  ExpectNone(Run([&](World& world) {
    for (const OperatorCase& what : cases)
      RunVerified(what, world);
  }));
}

TEST_P(OnHosts, LargeOnes) {
  ExpectNone(Run([&](World& world) {
    // More than a block of the moves, and than a share of whole cache lines.
    for (const Op op : {Op::kAllReduce, Op::kBroadcast})
      RunVerified({op, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, 1'200'007, 1, Placing::kApart, 7}, world);
  }));
}

/// collective-3: the bits are those of one host: the ranks' inputs added one after the other.
TEST_P(OnHosts, SumsAreInTheOrderOfTheRanks) {
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
TEST_P(OnHosts, CommunicatorsOfSomeRanks) {
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

/// collective-9: on all ranks, with both calls and their places.
TEST_P(OnHosts, ADisagreementNamesBothPlaces) {
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
TEST_P(OnHosts, ALateRankIsNamed) {
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
TEST_P(OnHosts, AKilledRankIsNamed) {
  for (const u32 victim : {size() - 1, 0U}) {
    SCOPED_TRACE(victim);
    const SharedTime killed_at;
    const auto failed = Run([&](World& world) {
      const DeviceBlock block(std::vector<u8>(40'000, 1));
      if (world.rank == victim) {
        std::thread([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          killed_at->store(Clock::now().time_since_epoch().count());
          ::kill(::getpid(), SIGKILL);
        }).detach();
      }
      try {
        for (;;) {
          Check(HcclAllReduce(block.at(), block.at(), 10'000, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM,
                              world.comm, world.stream));
          world.Synchronize();
        }
      } catch (const Failure& failure) {
        const Clock::duration late = Clock::now().time_since_epoch() - Clock::duration(killed_at->load());
        throw Failure(std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(late).count()) +
                      " ms: " + failure.what());
      }
    });
    ASSERT_EQ(failed.size(), size());
    const std::string process = failed[victim].failure;
    EXPECT_EQ(process, "ended by signal 9");
    for (const Ending& ending : failed) {
      if (ending.rank == victim) continue;
      EXPECT_LT(std::atol(ending.failure.c_str()), 10'000) << ending.failure;
      // A copy may fail first: it names the process.
      EXPECT_NE(ending.failure.find("process "), std::string::npos) << ending.failure;
    }
  }
}

/// collective-27: what the program maps itself has no key for other hosts.
TEST_P(OnHosts, MemoryThatTheProgramMapsIsRefused) {
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

/// Memory is freed and allocated again between operators: each allocation has a key of its own.
TEST_P(OnHosts, MemoryThatIsAllocatedAgain) {
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

/// collective-27: both sides say what is needed.
TEST_P(OnHosts, OtherChipsHaveRanksOfOneHost) {
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
TEST_P(OnHosts, RankZeroLeavesFirst) {
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
TEST_P(OnHosts, ARankThatExitsBreaksTheOthersBetweenHosts) {
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
}  // namespace sampan::test::operators_on_hosts
