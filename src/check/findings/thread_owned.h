// What a thread keeps for itself, also while its other objects are destroyed.
#pragma once

#include <new>

namespace sampan::check {

/// The calling thread's object, made at its first use. Calls from destructors of the program may come after
/// the thread's storage has ended; they get another object, which stays. Null without memory.
template <typename T>
T* ThreadOwned() noexcept {
  struct Slot {
    T* object = nullptr;
    bool ended = false;
  };
  thread_local constinit Slot slot;
  struct Owner {
    ~Owner() {
      delete slot.object;
      slot = {nullptr, true};
    }
  };
  if (slot.object != nullptr) return slot.object;
  if (!slot.ended) {
    thread_local const Owner owner;
    static_cast<void>(&owner);
  }
  slot.object = new (std::nothrow) T;
  return slot.object;
}

}  // namespace sampan::check
