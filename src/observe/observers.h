// The observers of the process, and the one word that says whether there are any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "observe/observer.h"

namespace sampan::observe {

/// kUnasked: the settings have not been read yet.
enum class State : std::uint8_t { kOff, kUnasked, kOn };
inline constinit std::atomic<State> state{State::kUnasked};

/// All that a hook costs while nothing observes: this load, and a branch that is not taken.
inline bool On() {
  return state.load(std::memory_order_relaxed) == State::kOn;
}

/// The tracer and the checker.
inline constexpr std::size_t kMaxObservers = 2;

/// From now on the observer is told. False if there are kMaxObservers already.
bool Attach(Observer& observer) noexcept;
/// It is told nothing more, except by threads that are telling it. False if it was not attached.
bool Detach(Observer& observer) noexcept;
/// The settings have been read: without an observer, none comes any more.
void Settle() noexcept;

namespace internal {
inline constinit std::array<std::atomic<Observer*>, kMaxObservers> observers{};
}  // namespace internal

/// Calls `tell(observer)` for each.
template <typename TellOne>
void Tell(TellOne tell) noexcept {
  for (const std::atomic<Observer*>& slot : internal::observers) {
    if (Observer* const observer = slot.load(std::memory_order_acquire)) tell(*observer);
  }
}

/// An observer judges the order of tasks.
inline bool AnyJudgesOrder() noexcept {
  bool any = false;
  Tell([&](const Observer& observer) { any = any || observer.judges_order(); });
  return any;
}

}  // namespace sampan::observe
