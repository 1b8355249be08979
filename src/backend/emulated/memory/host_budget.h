// The limit of pinned host memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

namespace sampan::emulated {

/// The bytes that the host can spare now.
using SpareBytes = std::function<std::size_t()>;
inline std::size_t AnyBytes() {
  return std::numeric_limits<std::size_t>::max();
}

/// A process may take this part of its limit before it looks at what the host can spare: a server has eight
/// devices, so the ranks on them together take one limit unseen.
constexpr std::size_t kUnseenPart = 8;

/// What is allocated counts, whether it is used or not. Thread-safe.
class HostBudget {
 public:
  explicit HostBudget(std::size_t limit_bytes, SpareBytes spare = AnyBytes)
      : limit_bytes_(limit_bytes), spare_(std::move(spare)) {}

  /// Returns false if the limit, or what the host can spare now, is too small.
  bool TryTake(std::size_t bytes);
  void GiveBack(std::size_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t limit_bytes() const { return limit_bytes_; }
  std::size_t left_bytes() const { return limit_bytes_ - used_bytes_.load(std::memory_order_relaxed); }

  /// The pages of this memory file are of this budget, until it is forgotten.
  void Watch(int memory_file);
  void Forget(int memory_file);
  /// Allocated bytes to which the host has given no page yet.
  std::size_t UntouchedBytes() const;

 private:
  const std::size_t limit_bytes_;
  const SpareBytes spare_;
  std::atomic<std::size_t> used_bytes_{0};
  std::atomic<std::size_t> unseen_bytes_{0};  // taken since the last look at the host
  mutable std::mutex mutex_;                  // guards what follows
  std::vector<int> memory_files_;
};

}  // namespace sampan::emulated
