// TriedSpin: spins while that helps, and leaves out more and more spins in vain.
#include <gtest/gtest.h>

#include <chrono>

#include "base/threads/spin.h"

namespace sampan {
namespace {

using namespace std::chrono_literals;

/// What a call of a TriedSpin does.
struct Tried {
  bool is_ready = false;
  int looks = 0;
};

/// It becomes ready at the look with this number; 0: never.
Tried Try(TriedSpin& spin, int ready_at) {
  Tried tried;
  tried.is_ready = spin(1ms, [&] { return ++tried.looks == ready_at; });
  return tried;
}

/// How many calls in vain look only once, before one that spins.
int LeftOut(TriedSpin& spin) {
  int count = 0;
  while (Try(spin, 0).looks == 1)
    ++count;
  return count;
}

TEST(TriedSpin, SpinsAsLongAsThatHelps) {
  TriedSpin spin;
  for (int i = 0; i < 100; ++i) {
    const Tried tried = Try(spin, 2);
    EXPECT_TRUE(tried.is_ready);
    EXPECT_EQ(tried.looks, 2);
  }
}

TEST(TriedSpin, LeavesOutMoreAfterEachSpinInVain) {
  TriedSpin spin;
  EXPECT_EQ(LeftOut(spin), 0);
  for (const int left_out : {2, 4, 8, 16, 32, 64, 64})
    EXPECT_EQ(LeftOut(spin), left_out);
}

TEST(TriedSpin, LooksOnceWhereItLeavesASpinOut) {
  TriedSpin spin;
  EXPECT_FALSE(Try(spin, 0).is_ready);
  EXPECT_TRUE(Try(spin, 1).is_ready);
  EXPECT_FALSE(Try(spin, 2).is_ready) << "it spins again too soon";
}

TEST(TriedSpin, BeginsAnewAfterOneThatHelped) {
  TriedSpin spin;
  for (int i = 0; i < 4; ++i)
    LeftOut(spin);
  while (!Try(spin, 2).is_ready) {
  }
  EXPECT_EQ(Try(spin, 2).looks, 2) << "it spins at once";
  EXPECT_EQ(LeftOut(spin), 0);
  EXPECT_EQ(LeftOut(spin), 2);
}

}  // namespace
}  // namespace sampan
