// ParkingLock: one owner at a time, and no thread sleeps for ever.
#include "base/threads/parking_lock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace sampan {
namespace {

TEST(ParkingLock, IsTakenOnce) {
  ParkingLock lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(ParkingLock, HasOneHolderAtATime) {
  constexpr int kThreads = 4, kRounds = 2'000;
  ParkingLock lock;
  int count = 0;  // not atomic: the lock is what keeps it right
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const std::lock_guard held(lock);
        const int seen = count;
        if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));  // others sleep
        count = seen + 1;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(count, kThreads * kRounds);
}

TEST(ParkingLock, WakesTheSleepingThread) {
  ParkingLock lock;
  for (int round = 0; round < 20; ++round) {
    lock.lock();
    std::vector<std::thread> sleepers;
    int entered = 0;
    for (int i = 0; i < 3; ++i) {
      sleepers.emplace_back([&] {
        const std::lock_guard held(lock);
        ++entered;
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(entered, 0);
    lock.unlock();
    for (std::thread& sleeper : sleepers)
      sleeper.join();
    EXPECT_EQ(entered, 3);
  }
}

TEST(ParkingLock, WorksWithConditions) {
  ParkingLock lock;
  std::condition_variable_any changed;
  bool ready = false;
  std::thread other([&] {
    const std::lock_guard held(lock);
    ready = true;
    changed.notify_all();
  });
  std::unique_lock held(lock);
  changed.wait(held, [&] { return ready; });
  EXPECT_TRUE(held.owns_lock());
  EXPECT_FALSE(lock.try_lock());
  held.unlock();
  other.join();
}

}  // namespace
}  // namespace sampan
