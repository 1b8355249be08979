// A rank that is killed in the middle of a collective: the others are told, in time, and nothing is left
// behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <new>
#include <set>
#include <sstream>
#include <thread>

#include "case_list.h"
#include "check.h"

namespace collectives::kill_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr u32 kRanks = 4;
constexpr s32 kTimeoutSeconds = 10;

/// When the rank was killed, told to the others through shared memory.
class KillTime {
 public:
  KillTime() {
    void* const memory =
        ::mmap(nullptr, sizeof(*ticks_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ticks_ = new (memory) std::atomic<Clock::rep>(0);
  }
  ~KillTime() { ::munmap(ticks_, sizeof(*ticks_)); }
  void Set() { *ticks_ = Clock::now().time_since_epoch().count(); }
  Clock::duration Since() const { return Clock::now().time_since_epoch() - Clock::duration(*ticks_); }

 private:
  std::atomic<Clock::rep>* ticks_;
};

/// What a rank could leave behind on the machine: sockets with names, shared memory, files.
std::set<std::string> Traces() {
  std::set<std::string> found;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    if (line.find("collectives." + std::to_string(::getpid())) != std::string::npos) found.insert(line);
  }
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename().string().find("collectives." + std::to_string(::getpid())) !=
          std::string::npos)
        found.insert(entry.path());
    }
  }
  return found;
}

class KilledRank : public testing::TestWithParam<Collective> {};

TEST_P(KilledRank, IsNamedToAllOthersInTime) {
  const u32 victim = 2;
  const Case what = {GetParam(), 20'000, {HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM}, 0, FreshSeed()};
  const auto delay = std::chrono::milliseconds(20 + what.seed % 30);
  KillTime killed;
  Launch launch = {kRanks, Form::kProcesses};
  launch.timeout_seconds = kTimeoutSeconds;
  const std::vector<Ending> failed = RunRanks(launch, [&](const Seat& seat) {
    Rank rank(seat, RoomFor(what, kRanks));
    if (seat.rank == victim) {
      std::thread([&] {
        std::this_thread::sleep_for(delay);
        killed.Set();
        ::kill(::getpid(), SIGKILL);
      }).detach();
    }
    try {
      for (;;) {
        RunCase(rank, what);
        rank.Synchronize();
      }
    } catch (const Failure& failure) {
      const auto late = std::chrono::duration_cast<std::chrono::milliseconds>(killed.Since()).count();
      throw Failure("[" + std::to_string(late) + " ms later] " + failure.what());
    }
  });
  ASSERT_EQ(failed.size(), kRanks);
  for (const Ending& ending : failed) {
    if (ending.rank == victim) {
      EXPECT_EQ(ending.failure, "ended by signal 9");
      continue;
    }
    long late = -1;
    ASSERT_EQ(std::sscanf(ending.failure.c_str(), "[%ld ms later]", &late), 1) << ending.failure;
    EXPECT_GE(late, 0);
    EXPECT_LT(late, kTimeoutSeconds * 1000);
    EXPECT_NE(ending.failure.find("rank 2"), std::string::npos) << ending.failure;
    // Where ranks talk to each other without a stream, there is no notify to name.
    const bool names_notify = ending.failure.find("'done'") != std::string::npos ||
                              ending.failure.find("'ready'") != std::string::npos;
    EXPECT_TRUE(names_notify || ending.failure.find("RankGroup::Exchange") != std::string::npos)
        << ending.failure;
    RecordProperty("rank_" + std::to_string(ending.rank), ending.failure);
  }
  EXPECT_EQ(Traces(), std::set<std::string>());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
}
INSTANTIATE_TEST_SUITE_P(During, KilledRank,
                         testing::Values(Collective::kRingAllGather, Collective::kMeshAllGather,
                                         Collective::kRingAllReduce, Collective::kBroadcast,
                                         Collective::kAllToAllV),
                         [](const auto& what) { return NameOf(what.param); });

/// A rank that never comes: the others are told who is missing.
TEST(MissingRank, IsReported) {
  Launch launch = {3, Form::kProcesses};
  launch.timeout_seconds = 2;
  const std::vector<Ending> failed = RunRanks(launch, [&](const Seat& seat) {
    if (seat.rank == 1) return;
    Rank rank(seat, {64, 64});
  });
  ASSERT_EQ(failed.size(), 2U);
  for (const Ending& ending : failed)
    EXPECT_NE(ending.failure.find("1"), std::string::npos) << ending.failure;
}

}  // namespace
}  // namespace collectives::kill_test
