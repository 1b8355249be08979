// A rank that is killed while all of them reduce: what the others are told, and when.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/libhccl/case_list.h"
#include "tests/libhccl/shared_word.h"

namespace sampan::test {

/// TEST_KILLED_RANKS says how often `kill` is called; `of_ci` without it.
inline void KillRanks(int of_ci, const std::function<void(int number)>& kill) {
  const char* const wanted = std::getenv("TEST_KILLED_RANKS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : of_ci;
  for (int number = 0; number < kills; ++number)
    kill(number);
}

/// Whether more kills than those of CI are wanted: nothing else runs on the machine then.
inline bool KillsMany() {
  return std::getenv("TEST_KILLED_RANKS") != nullptr;
}

struct Killing {
  u32 victim;
  long max_ms;           ///< within so many milliseconds all others are told
  const char* named_as;  ///< a part of what they are told
};

/// Rank `victim` is killed at a random moment. `run` runs the body on `ranks` processes.
inline void ExpectTheKillIsTold(
    u32 ranks, const Killing& what,
    const std::function<std::vector<Ending>(const std::function<void(World&)>& body)>& run) {
  using Clock = std::chrono::steady_clock;
  const std::chrono::microseconds delay(FreshSeed() % 60'000);
  const SharedWord<Clock::rep> killed_at;
  const std::vector<Ending> failed = run([&](World& world) {
    const DeviceBlock block(std::vector<u8>(40'000, 1));
    const auto reduce = [&] {
      Check(HcclAllReduce(block.at(), block.at(), 10'000, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, world.comm,
                          world.stream));
      world.Synchronize();
    };
    try {
      reduce();  // behind it, no rank is still joining
      if (world.rank == what.victim) {
        std::thread([&] {
          std::this_thread::sleep_for(delay);
          killed_at->store(Clock::now().time_since_epoch().count());
          ::kill(::getpid(), SIGKILL);
        }).detach();
      }
      for (;;)
        reduce();
    } catch (const Failure& failure) {
      const Clock::duration late = Clock::now().time_since_epoch() - Clock::duration(killed_at->load());
      HcclResult error = HCCL_SUCCESS;
      Check(HcclGetCommAsyncError(world.comm, &error));
      throw Failure(std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(late).count()) +
                    " ms, error " + std::to_string(error) + ": " + failure.what());
    }
  });
  ASSERT_EQ(failed.size(), ranks);
  for (const Ending& ending : failed) {
    if (ending.rank == what.victim) {
      EXPECT_EQ(ending.failure, "ended by signal 9");
      continue;
    }
    long late = -1;
    int error = 0;
    ASSERT_EQ(std::sscanf(ending.failure.c_str(), "%ld ms, error %d", &late, &error), 2) << ending.failure;
    EXPECT_LT(late, what.max_ms) << ending.failure;
    EXPECT_EQ(error, HCCL_E_REMOTE) << ending.failure;
    EXPECT_NE(ending.failure.find(what.named_as), std::string::npos) << ending.failure;
  }
}

}  // namespace sampan::test
