// How far each queue was before something happened.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sampan::check {

/// For each queue the last task that comes before. Not thread-safe.
class OrderClock {
 public:
  std::uint64_t At(std::uint64_t queue) const noexcept {
    const auto found = Find(queue);
    return found != entries_.end() && found->queue == queue ? found->task : 0;
  }
  /// Returns true if the clock changed.
  bool Raise(std::uint64_t queue, std::uint64_t task) {
    if (task == 0) return false;
    const auto found = entries_.begin() + (Find(queue) - entries_.begin());
    if (found == entries_.end() || found->queue != queue) {
      entries_.insert(found, {queue, task});
      return true;
    }
    if (found->task >= task) return false;
    found->task = task;
    return true;
  }
  bool Join(const OrderClock& other) {
    bool changed = false;
    for (const Entry& entry : other.entries_)
      changed |= Raise(entry.queue, entry.task);
    return changed;
  }
  /// The queue is gone, and all of its work is known to the host.
  void Forget(std::uint64_t queue) {
    std::erase_if(entries_, [queue](const Entry& entry) { return entry.queue == queue; });
  }

 private:
  struct Entry {
    std::uint64_t queue, task;
  };

  std::vector<Entry>::const_iterator Find(std::uint64_t queue) const noexcept {
    return std::lower_bound(entries_.begin(), entries_.end(), queue,
                            [](const Entry& entry, std::uint64_t wanted) { return entry.queue < wanted; });
  }

  std::vector<Entry> entries_;  // by queue
};

}  // namespace sampan::check
