// Stripes for counters that many threads write. Each thread has a stripe, which few others share.
#pragma once

#include <atomic>
#include <cstddef>

namespace sampan {

inline constexpr std::size_t kThreadStripes = 4;
inline constexpr std::size_t kCacheLineBytes = 64;

namespace internal {
/// The calling thread's stripe plus one; 0 before it has a stripe.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::size_t stripe_plus_one = 0;
[[gnu::cold, gnu::noinline]] inline std::size_t TakeStripe() noexcept {
  static constinit std::atomic<std::size_t> threads{0};
  stripe_plus_one = threads.fetch_add(1, std::memory_order_relaxed) % kThreadStripes + 1;
  return stripe_plus_one;
}
}  // namespace internal

/// The calling thread's stripe, below kThreadStripes. It never changes.
inline std::size_t ThisThreadStripe() noexcept {
  std::size_t stripe = internal::stripe_plus_one;
  if (stripe == 0) [[unlikely]]
    stripe = internal::TakeStripe();
  return stripe - 1;
}

}  // namespace sampan
