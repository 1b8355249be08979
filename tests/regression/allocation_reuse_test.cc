// A record was reclaimed while in use: a thread counted the uses of one life and then reclaimed the next one.
// One thread plays both sides. It executes the last release of a life instruction by instruction. Between two
// instructions it does what another thread would do.
#include <gtest/gtest.h>

#include <csignal>

#include <algorithm>

#include "backend/api/allocation.h"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

namespace sampan::allocation_reuse_test {
namespace {

/// How many instructions before the end are tried: counting the uses comes before them.
constexpr int kTried = 600, kStride = 5;

class Owner final : public AllocationOwner {
 public:
  void Reclaim(Allocation&) noexcept override { ++reclaimed; }
  int reclaimed = 0;
};

Owner* owner = nullptr;
Allocation* allocation = nullptr;
int steps = 0;        // instructions executed so far
int interrupted = 0;  // before which the other thread comes, or 0
bool second_life = false;

/// The other thread looks for the memory, which ends the life if nothing is left of it. It begins the next
/// life, uses it and frees it. The use stays.
void OtherThread() {
  EXPECT_FALSE(allocation->TryUse()) << "it was freed";
  if (owner->reclaimed != 1) return;
  second_life = true;
  allocation->Begin(*owner);
  EXPECT_TRUE(allocation->TryUse());
  EXPECT_TRUE(allocation->MarkFreed());
}

void OnStep(int) {
  if (++steps == interrupted) OtherThread();
}

/// The trap flag of the processor; the lines around it step over what the compiler keeps below the stack.
[[gnu::noinline]] void StepThroughRelease() {
  asm volatile("subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; addq $128, %%rsp" ::: "cc", "memory");
  allocation->Release();
  asm volatile("subq $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; addq $128, %%rsp" ::: "cc", "memory");
}

struct Outcome {
  int steps;
  bool second_life;  ///< the other thread began one
  int reclaimed;     ///< while that was in use
};

/// The last release of a life, with the other thread before one instruction; 0 for none.
Outcome ReleaseWithOther(int before) {
  Owner of_record;
  Allocation record;
  owner = &of_record;
  allocation = &record;
  second_life = false;
  record.Begin(of_record);
  EXPECT_TRUE(record.TryUse());
  EXPECT_TRUE(record.MarkFreed());
  steps = 0;
  interrupted = before;
  StepThroughRelease();
  const Outcome outcome{steps, second_life, of_record.reclaimed};
  if (second_life) record.Release();
  return outcome;
}

TEST(AllocationReuse, ReclaimsNoLifeThatIsInUse) {
  struct sigaction on_step = {}, before = {};
  on_step.sa_handler = &OnStep;
  ASSERT_EQ(::sigaction(SIGTRAP, &on_step, &before), 0);
  const int all = ReleaseWithOther(0).steps;
  int second_lives = 0;
  for (int at = std::max(1, all - kTried); at <= all; at += kStride) {
    const Outcome outcome = ReleaseWithOther(at);
    second_lives += outcome.second_life ? 1 : 0;
    EXPECT_EQ(outcome.reclaimed, 1) << "reclaimed in use: before instruction " << at << " of " << all;
  }
  ::sigaction(SIGTRAP, &before, nullptr);
  EXPECT_GT(second_lives, 10) << "the other thread hardly ever came in time";
}

}  // namespace
}  // namespace sampan::allocation_reuse_test

#endif
