// The objects that a thread used last, found again by their handles without a lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace sampan {

/// One per thread and kind of object; not thread-safe. It keeps the memory of its objects, also of destroyed
/// ones, until the thread uses others or exits. Their numbers and places in the context are free before that.
template <typename Object>
class RecentObjects {
 public:
  /// The object that a handle names, alive until the next call; null for a dead or forged handle. `removals`
  /// is how many handles of the kind have ended, `find` looks a handle up.
  template <typename Find>
  Object* Get(void* handle, std::uint64_t removals, Find find) {
    Entry& entry = entries_[(reinterpret_cast<std::uintptr_t>(handle) >> 3) % entries_.size()];
    if (entry.handle != handle || entry.removals != removals) [[unlikely]]
      Refill(entry, handle, removals, find);
    return entry.object.get();
  }

 private:
  struct Entry {
    void* handle = nullptr;
    std::uint64_t removals = 0;  // as many as there were when the object was found alive
    std::shared_ptr<Object> object;
  };

  template <typename Find>
  [[gnu::noinline]] static void Refill(Entry& entry, void* handle, std::uint64_t removals, Find find) {
    entry.object = find(handle);
    entry.handle = entry.object != nullptr ? handle : nullptr;
    entry.removals = removals;
  }

  std::array<Entry, 16> entries_;
};

}  // namespace sampan
