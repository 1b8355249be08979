// Stripes for counters that many threads write: a few belong to one thread each, the others are shared.
#include "base/threads/thread_stripe.h"

#include <array>

#include "base/error/assert.h"
#include "base/threads/process_barrier.h"

namespace sampan {
namespace {

/// Per own stripe: a thread has it.
constinit std::array<std::atomic<bool>, kOwnStripes> taken{};

/// A thread's own stripe. The next owner continues its counts.
class Lease {
 public:
  Lease() noexcept {
    if (!HasProcessBarrier()) {
      stripe_ = kOwnStripes;
      return;
    }
    while (stripe_ < kOwnStripes && taken[stripe_].exchange(true, std::memory_order_seq_cst))
      ++stripe_;
  }
  ~Lease() {
    if (stripe_ >= kOwnStripes) return;
    ShareStripe();  // other destructors of the thread may still count
    taken[stripe_].store(false, std::memory_order_release);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  bool found() const { return stripe_ < kOwnStripes; }
  std::size_t stripe() const { return stripe_; }

 private:
  std::size_t stripe_ = 0;
};

}  // namespace

std::size_t internal::TakeStripe() noexcept {
  thread_local const Lease lease;
  if (lease.found()) {
    stripe_plus_one = lease.stripe() + 1;
  } else {
    ShareStripe();
  }
  SAMPAN_ASSERT(stripe_plus_one != 0 && stripe_plus_one <= kThreadStripes);
  return stripe_plus_one;
}

bool SeeOwnStripes() noexcept {
  const std::size_t mine = internal::stripe_plus_one - 1;
  for (std::size_t stripe = 0; stripe < kOwnStripes; ++stripe) {
    // A thread that takes one later counts and reads after the caller's store.
    if (stripe != mine && taken[stripe].load(std::memory_order_seq_cst)) return ProcessBarrier();
  }
  return true;
}

}  // namespace sampan
