// Uses of an allocation that begin and end on many threads while it is freed: reclaimed once, and never in
// use.
#include "backend/api/allocation.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "base/threads/spin.h"
#include "base/threads/thread_stripe.h"

namespace sampan::allocation_test {
namespace {

constexpr int kMaxLooks = 1000;
/// More than there are own stripes, so that shared ones take part.
constexpr std::size_t kUsers = kOwnStripes + 2;

class Owner final : public AllocationOwner {
 public:
  void Reclaim(Allocation&) noexcept override {
    reclaimed_in_use += in_use() ? 1 : 0;
    ++lives_over;
  }
  /// Each user writes only its own word, so that nothing but the uses orders the threads.
  bool in_use() const {
    bool any = false;
    for (const Word& word : words)
      any |= word.uses.load(std::memory_order_seq_cst);
    return any;
  }

  struct alignas(kCacheLineBytes) Word {
    std::atomic<bool> uses{false};
  };
  std::array<Word, kUsers> words;
  std::atomic<int> uses_begun{0};
  std::atomic<int> lives_over{0};
  std::atomic<int> reclaimed_in_use{0};
};

/// Uses the memory until all lives are over.
void UseAgainAndAgain(Allocation& allocation, Owner& owner, std::size_t user, int lives) {
  std::atomic<bool>& uses = owner.words[user].uses;
  while (owner.lives_over.load(std::memory_order_relaxed) < lives) {
    if (!allocation.TryUse()) {
      std::this_thread::yield();
      continue;
    }
    const int life = owner.lives_over.load(std::memory_order_acquire);
    uses.store(true, std::memory_order_release);
    ++owner.uses_begun;
    if (owner.lives_over.load(std::memory_order_acquire) != life) ++owner.reclaimed_in_use;
    uses.store(false, std::memory_order_release);
    allocation.Release();
  }
}

void LiveAndBeFreed(std::size_t users, int lives) {
  Owner owner;
  Allocation allocation;
  std::vector<std::thread> threads;
  for (std::size_t user = 0; user < users; ++user)
    threads.emplace_back([&, user] { UseAgainAndAgain(allocation, owner, user, lives); });
  for (int life = 0; life < lives; ++life) {
    allocation.Begin(owner);
    // The users get going, then it is freed at any of their instructions.
    const int uses = owner.uses_begun.load();
    for (int look = 0; look < kMaxLooks && owner.uses_begun.load() == uses; ++look)
      CpuRelax();
    for (int i = 0; i < life % 64; ++i)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    EXPECT_TRUE(allocation.TryUse());
    EXPECT_TRUE(allocation.MarkFreed());
    allocation.Release();
    while (owner.lives_over.load(std::memory_order_acquire) == life)
      std::this_thread::yield();  // a user reclaims it with its last use
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(owner.lives_over.load(), lives);
  EXPECT_EQ(owner.reclaimed_in_use.load(), 0);
}

TEST(Allocation, IsReclaimedOnceAndNeverInUseByOneThread) {
  LiveAndBeFreed(1, 5000);
}

TEST(Allocation, IsReclaimedOnceAndNeverInUseByManyThreads) {
  LiveAndBeFreed(kUsers, 500);
}

}  // namespace
}  // namespace sampan::allocation_test
