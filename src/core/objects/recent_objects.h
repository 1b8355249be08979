// A thread's cache of recently used objects, found by handle without a lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace sampan::core {

/// One per thread and kind of object. Not thread-safe. It keeps the memory of its objects, also of destroyed
/// ones, until the thread uses others or exits. Their ids and places in the context become free earlier.
template <typename Object>
class RecentObjects {
 public:
  /// The object of a handle, alive until the next call; null for a destroyed or invalid handle. `removals` is
  /// the count of removed handles of this kind, `find` looks a handle up.
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
    std::uint64_t removals = 0;  // the count when the object was found
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

}  // namespace sampan::core
