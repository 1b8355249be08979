// The limit of pinned host memory, and what the host has.
#pragma once

#include <atomic>
#include <cstddef>

namespace sampan::emulated {

/// What is allocated counts, whether it is used or not. Thread-safe.
class HostBudget {
 public:
  explicit HostBudget(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  bool TryTake(std::size_t bytes) {
    std::size_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_bytes_ - used) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void GiveBack(std::size_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t limit_bytes() const { return limit_bytes_; }
  std::size_t left_bytes() const { return limit_bytes_ - used_bytes_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_bytes_;
  std::atomic<std::size_t> used_bytes_{0};
};

/// Memory that this process can use without harming the host: available now, and inside the control group's
/// limit.
std::size_t AvailableHostBytes();
/// All memory of the host; the control group's limit if that is less. The same each time.
std::size_t AllHostBytes();

}  // namespace sampan::emulated
