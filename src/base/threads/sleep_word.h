// A word in memory, perhaps shared with other processes, that threads sleep on.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/threads/futex.h"

namespace sampan {

/// A word that threads of any process sleep on with futex(2). A writer wakes them if `sleepers` is not 0. A
/// process that is killed while it sleeps leaves the count too high, which costs unnecessary wake-ups.
struct SleepWord {
  std::atomic<std::uint32_t> value{0};
  std::atomic<std::uint32_t> sleepers{0};
};

/// Wakes the word's sleepers after another word has changed that they look at. A sleeper adds itself to the
/// count, reads the value and looks once more, so none is missed.
inline void WakeSleepers(SleepWord& word) noexcept {
  if (word.sleepers.load(std::memory_order_seq_cst) == 0) return;
  word.value.fetch_add(1, std::memory_order_seq_cst);
  FutexWake(word.value);
}

}  // namespace sampan
