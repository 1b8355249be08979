// The limit of host memory that the memory files of all emulated devices may take, counted when they are
// written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/emulated/memory/host_budget.h"
#include "base/error/status.h"

namespace sampan::emulated {

/// Devices promise more memory than the host has: a page is taken by the first write to it. While no more is
/// promised than the unseen part of the limit, nothing has to be counted. Otherwise each write asks first.
/// The system is asked only when as much was written as the last question granted. A question grants no more
/// than the limit leaves, and the unseen part of what the host can spare now: other processes take memory
/// too. Thread-safe.
class WriteBudget {
 public:
  /// No single allocation may be larger than `host_bytes`.
  WriteBudget(std::size_t limit_bytes, std::size_t host_bytes, SpareBytes spare = AnyBytes)
      : limit_bytes_(limit_bytes), host_bytes_(host_bytes), spare_(std::move(spare)) {}

  std::size_t limit_bytes() const { return limit_bytes_; }
  std::size_t host_bytes() const { return host_bytes_; }

  void Promise(std::size_t bytes);
  void Withdraw(std::size_t bytes) { promised_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  /// The pages of this memory file count. It is mapped at the view, and stays as long as the budget is used.
  void Watch(int memory_file, std::uintptr_t view, std::size_t view_bytes);

  /// More is promised than may be taken unseen.
  bool Counts() const { return promised_bytes_.load(std::memory_order_relaxed) > limit_bytes_ / kUnseenPart; }
  /// Admits a write that takes at most so many new bytes, or fails with 207001. `missing` counts the bytes of
  /// its pages that are not taken yet; it is asked if the bound does not fit. Writes that run at the same
  /// time may together pass the limit, by no more than they write.
  template <typename Missing>
  Status Admit(std::size_t bound_bytes, const Missing& missing) {
    const auto bound = static_cast<std::int64_t>(bound_bytes);
    if (left_bytes_.fetch_sub(bound, std::memory_order_relaxed) >= bound) return {};
    return Look(bound_bytes, missing);
  }
  /// The bytes of the pages of [address, +bytes) that have no memory yet. Only for `missing`.
  std::size_t MissingBytes(const void* address, std::size_t bytes) const;

 private:
  struct WatchedFile {
    int memory_file;
    std::uintptr_t view;
    std::size_t view_bytes;
  };

  Status Look(std::size_t bound_bytes, const std::function<std::size_t()>& missing);
  std::size_t TakenByAll() const;

  const std::size_t limit_bytes_, host_bytes_;
  const SpareBytes spare_;
  std::atomic<std::size_t> promised_bytes_{0};
  std::atomic<std::int64_t> left_bytes_{0};  // since the last look at the files; not positive: look again
  std::mutex mutex_;                         // guards what follows, and looks at the files
  std::vector<WatchedFile> files_;
};

}  // namespace sampan::emulated
