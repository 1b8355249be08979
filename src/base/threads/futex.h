// Sleeps on words of this process or of shared memory, with futex(2) and futex_waitv(2).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/time/clock.h"

namespace sampan {

/// A word, and the value at which the thread sleeps.
struct FutexWait {
  const std::atomic<std::uint32_t>* word;
  std::uint32_t value;
};

inline constexpr std::size_t kMaxFutexWaits = 128;

/// Wakes every thread that sleeps on the word, in every process.
void FutexWake(const std::atomic<std::uint32_t>& word) noexcept;

/// Sleeps until a word is woken, a word differs from its value, or the deadline has passed. May return
/// earlier. At most kMaxFutexWaits words.
void FutexSleep(std::span<const FutexWait> waits, Deadline deadline) noexcept;

}  // namespace sampan
