// The clock of observed events: close to the system's, and never backwards, also while it is adjusted.
#include "observe/event_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

namespace sampan::event_clock_test {
namespace {

/// The smallest of some distances: a thread may lose its processor between two readings.
std::int64_t DistanceNs(const observe::EventClock& clock) {
  std::int64_t smallest = INT64_MAX;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t before = NowNs();
    const std::int64_t told = clock.NowNs();
    const std::int64_t after = NowNs();
    smallest = std::min(smallest, told < before ? before - told : std::max<std::int64_t>(told - after, 0));
  }
  return smallest;
}

TEST(EventClockTest, IsTheSystemsClockBeforeItIsStarted) {
  const observe::EventClock clock;
  EXPECT_EQ(DistanceNs(clock), 0);
}

TEST(EventClockTest, StaysNearTheSystemsClock) {
  observe::EventClock clock;
  clock.Start();
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_LT(DistanceNs(clock), 20'000);
    clock.Adjust();
    EXPECT_LT(DistanceNs(clock), 20'000);
  }
}

TEST(EventClockTest, NeverGoesBackwards) {
  observe::EventClock clock;
  clock.Start();
  std::atomic<bool> over{false};
  std::atomic<std::int64_t> latest{0};
  std::atomic<int> backwards{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      while (!over.load()) {
        // A time that was read before is not later than one that is read now.
        const std::int64_t before = latest.load();
        const std::int64_t now = clock.NowNs();
        if (now < before) ++backwards;
        std::int64_t known = before;
        while (known < now && !latest.compare_exchange_weak(known, now)) {
        }
      }
    });
  }
  for (int i = 0; i < 2000; ++i)
    clock.Adjust();
  over.store(true);
  for (std::thread& reader : readers)
    reader.join();
  EXPECT_EQ(backwards.load(), 0);
}

}  // namespace
}  // namespace sampan::event_clock_test
