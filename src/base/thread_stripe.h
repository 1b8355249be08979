// Spreads counters that many threads write: each thread has a stripe, shared with few others.
#pragma once

#include <atomic>
#include <cstddef>

namespace sampan {

inline constexpr std::size_t kThreadStripes = 4;
inline constexpr std::size_t kCacheLineBytes = 64;

/// The calling thread's stripe, below kThreadStripes; the same for the thread's whole life.
inline std::size_t ThisThreadStripe() {
  static constinit std::atomic<std::size_t> threads{0};
  [[gnu::tls_model("initial-exec")]] static constinit thread_local std::size_t stripe_plus_one = 0;
  if (stripe_plus_one == 0) {
    stripe_plus_one = threads.fetch_add(1, std::memory_order_relaxed) % kThreadStripes + 1;
  }
  return stripe_plus_one - 1;
}

}  // namespace sampan
