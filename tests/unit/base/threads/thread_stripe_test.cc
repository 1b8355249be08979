// Stripes: which threads have one of their own, and that nothing is lost when one changes its owner.
#include "base/threads/thread_stripe.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <latch>
#include <thread>
#include <vector>

#include "base/threads/process_barrier.h"
#include "base/threads/spin.h"
#include "base/threads/threads.h"

namespace sampan::thread_stripe_test {
namespace {

using Counts = std::array<std::atomic<std::uint64_t>, kThreadStripes>;

void Count(Counts& counts, int times) {
  const std::size_t stripe = ThisThreadStripe();
  for (int i = 0; i < times; ++i)
    CountInStripe(counts[stripe], stripe);
}

std::uint64_t SumOf(const Counts& counts) {
  std::uint64_t sum = 0;
  for (const auto& count : counts)
    sum += count.load();
  return sum;
}

TEST(ThreadStripe, IsItsOwnForFewThreadsAtATime) {
  if (!HasProcessBarrier()) GTEST_SKIP() << "the system has no membarrier";
  constexpr std::size_t kThreads = kOwnStripes + 3;
  std::array<std::atomic<int>, kThreadStripes> owners{};
  std::latch all_have_one(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ++owners[ThisThreadStripe()];
      all_have_one.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  int sharing = 0;
  for (std::size_t stripe = 0; stripe < kThreadStripes; ++stripe) {
    if (!IsOwnStripe(stripe)) {
      sharing += owners[stripe];
    } else {
      EXPECT_LE(owners[stripe], 1) << "stripe " << stripe;
    }
  }
  EXPECT_GE(sharing, 3);
}

TEST(ThreadStripe, CountsEveryOneWhileThreadsComeAndGo) {
  constexpr int kRounds = 40, kThreads = 8, kTimes = 500;
  Counts counts{};
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] { Count(counts, kTimes); });
    for (std::thread& thread : threads)
      thread.join();
  }
  EXPECT_EQ(SumOf(counts), std::uint64_t{kRounds} * kThreads * kTimes);
}

/// Two threads: one counts, then reads whether it is over. The other says that it is over, then reads the
/// count.
struct Round {
  alignas(kCacheLineBytes) std::atomic<int> begun{0};
  alignas(kCacheLineBytes) std::atomic<int> counted{0};
  alignas(kCacheLineBytes) std::atomic<bool> over{false};
  bool saw_over = false;
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> count{0};
  std::atomic<int> neighbour{0};  ///< in the same line: written elsewhere, it makes counting slow
};

void Await(const std::atomic<int>& number, int round) {
  for (int look = 0; number.load(std::memory_order_acquire) < round; ++look) {
    if (look > 500) std::this_thread::yield();  // the other thread has no core
  }
}

TEST(ThreadStripe, CountsAreSeenOrWhatWasWrittenBefore) {
  constexpr int kRounds = 10'000;
  Round shared;
  std::thread counter([&] {
    const std::size_t stripe = ThisThreadStripe();
    for (int round = 1; round <= kRounds; ++round) {
      Await(shared.begun, round);
      shared.saw_over = shared.over.load(std::memory_order_relaxed);
      for (int i = 0; i < round % 16; ++i)
        CpuRelax();
      CountInStripe(shared.count, stripe);
      shared.saw_over = shared.over.load(std::memory_order_seq_cst);
      shared.counted.store(round, std::memory_order_release);
    }
  });
  int missed_by_both = 0;
  for (int round = 1; round <= kRounds; ++round) {
    shared.over.store(false, std::memory_order_seq_cst);
    const std::uint64_t before = shared.count.load();
    shared.neighbour.fetch_add(1);
    shared.begun.store(round, std::memory_order_release);
    for (int i = 0; i < round / 16 % 16; ++i)
      CpuRelax();
    shared.over.store(true, std::memory_order_seq_cst);
    ASSERT_TRUE(SeeOwnStripes());
    const bool saw_count = shared.count.load(std::memory_order_seq_cst) != before;
    Await(shared.counted, round);
    missed_by_both += !saw_count && !shared.saw_over ? 1 : 0;
  }
  counter.join();
  EXPECT_EQ(missed_by_both, 0);
}

TEST(ThreadStripe, ComesBackWhenItsThreadExits) {
  if (!HasProcessBarrier()) GTEST_SKIP() << "the system has no membarrier";
  std::size_t with_own = 0;
  for (std::size_t i = 0; i < 4 * kOwnStripes; ++i) {
    std::thread([&] { with_own += IsOwnStripe(ThisThreadStripe()) ? 1 : 0; }).join();
  }
  EXPECT_EQ(with_own, 4 * kOwnStripes) << "own stripes were not given back";
}

TEST(ThreadStripe, ThreadsOfTheRuntimeShare) {
  bool own = true;
  StartThread("sampan-test", [&] { own = IsOwnStripe(ThisThreadStripe()); }).Join();
  EXPECT_FALSE(own);
}

TEST(ThreadStripe, ForkedChildHasTheBarrier) {
  if (!HasProcessBarrier()) GTEST_SKIP() << "the system has no membarrier";
  static_cast<void>(ThisThreadStripe());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(SeeOwnStripes() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
Counts* signal_counts = nullptr;
std::uint64_t handled = 0;

TEST(ThreadStripe, SignalHandlerOfTheThreadMayCount) {
  Counts counts{};
  signal_counts = &counts;
  struct sigaction on_step = {}, before = {};
  on_step.sa_handler = [](int) {
    ++handled;
    Count(*signal_counts, 1);
  };
  ASSERT_EQ(::sigaction(SIGTRAP, &on_step, &before), 0);
  const std::size_t stripe = ThisThreadStripe();
  // The trap flag of the processor: a handler comes before each instruction. The lines around it step over
  // what the compiler keeps below the stack.
  asm volatile("subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; addq $128, %%rsp" ::: "cc", "memory");
  for (int i = 0; i < 5; ++i)
    CountInStripe(counts[stripe], stripe);
  asm volatile("subq $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; addq $128, %%rsp" ::: "cc", "memory");
  ::sigaction(SIGTRAP, &before, nullptr);
  EXPECT_GT(handled, 10U);
  EXPECT_EQ(SumOf(counts), 5 + handled);
}
#endif

}  // namespace
}  // namespace sampan::thread_stripe_test
