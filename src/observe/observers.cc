// The observers of the process, and the one word that says whether there are any.
#include "observe/observers.h"

#include <algorithm>

namespace sampan::observe {

bool Attach(Observer& observer) noexcept {
  for (std::atomic<Observer*>& slot : internal::observers) {
    Observer* empty = nullptr;
    if (!slot.compare_exchange_strong(empty, &observer)) continue;
    state.store(State::kOn, std::memory_order_release);
    return true;
  }
  return false;
}

bool Detach(Observer& observer) noexcept {
  for (std::atomic<Observer*>& slot : internal::observers) {
    Observer* expected = &observer;
    if (!slot.compare_exchange_strong(expected, nullptr)) continue;
    const bool any = std::any_of(internal::observers.begin(), internal::observers.end(),
                                 [](const auto& other) { return other.load() != nullptr; });
    if (!any) state.store(State::kOff);
    return true;
  }
  return false;
}

void Settle() noexcept {
  State unasked = State::kUnasked;
  state.compare_exchange_strong(unasked, State::kOff);
}

}  // namespace sampan::observe
