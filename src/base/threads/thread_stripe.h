// Stripes for counters that many threads write: a few belong to one thread each, the others are shared.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sampan {

/// A thread of the program takes one of its own if one is left, until it exits. So it counts without an
/// atomic operation of 5 ns, four of which were most of a short copy.
inline constexpr std::size_t kOwnStripes = 4;
inline constexpr std::size_t kSharedStripes = 2;
inline constexpr std::size_t kThreadStripes = kOwnStripes + kSharedStripes;
inline constexpr std::size_t kCacheLineBytes = 64;

namespace internal {
/// The calling thread's stripe plus one; 0 before it has a stripe.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::size_t stripe_plus_one = 0;
[[gnu::cold, gnu::noinline]] std::size_t TakeStripe() noexcept;
inline constinit std::atomic<std::size_t> sharing_threads{0};
}  // namespace internal

/// The calling thread's stripe, below kThreadStripes. It changes only when the thread exits.
inline std::size_t ThisThreadStripe() noexcept {
  std::size_t stripe = internal::stripe_plus_one;
  if (stripe == 0) [[unlikely]]
    stripe = internal::TakeStripe();
  return stripe - 1;
}
/// True for a stripe that one thread at a time counts in.
constexpr bool IsOwnStripe(std::size_t stripe) noexcept {
  return stripe < kOwnStripes;
}
/// For threads of the runtime, when they start: leaves the own stripes to the program.
inline void ShareStripe() noexcept {
  const std::size_t thread = internal::sharing_threads.fetch_add(1, std::memory_order_relaxed);
  internal::stripe_plus_one = kOwnStripes + thread % kSharedStripes + 1;
}

/// Adds one to a count of the calling thread's stripe. If the thread reads something afterwards, it may read
/// it before other threads see the count. What they wrote before SeeOwnStripes is the exception: either it is
/// read, or they see the count.
inline void CountInStripe(std::atomic<std::uint64_t>& count, std::size_t stripe) noexcept {
  if (!IsOwnStripe(stripe)) [[unlikely]] {
    count.fetch_add(1, std::memory_order_seq_cst);
    return;
  }
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  // One instruction, so that a signal handler of this thread may count too. A store releases.
  asm volatile("incq %0" : "+m"(reinterpret_cast<std::uint64_t&>(count)) : : "cc", "memory");
#else
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// Call it between a store with sequential consistency and the reading of counts. Returns false if counts
/// may be missing: the system has no barrier any more.
[[nodiscard]] bool SeeOwnStripes() noexcept;

}  // namespace sampan
