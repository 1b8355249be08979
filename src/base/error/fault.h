// Injects faults: makes the n-th operation of a kind fail, so that tests reach the error paths.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error/status.h"
#include "base/error/text.h"

namespace sampan {

enum class FaultKind : std::size_t { kMemory, kQueue };

/// Counts operations and decides which one fails. Thread-safe. When disarmed, a check costs one relaxed load.
class FaultPlan {
 public:
  /// Makes the n-th operation of this kind from now on fail, once. 0 disarms.
  void Arm(FaultKind kind, std::uint64_t n) { At(kind).store(n, std::memory_order_relaxed); }
  bool Armed(FaultKind kind) const {
    return remaining_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed) != 0;
  }

  bool ShouldFail(FaultKind kind) {
    auto& left = At(kind);
    std::uint64_t n = left.load(std::memory_order_relaxed);
    if (n == 0) return false;
    while (n != 0 && !left.compare_exchange_weak(n, n - 1, std::memory_order_relaxed)) {
    }
    return n == 1;
  }

 private:
  std::atomic<std::uint64_t>& At(FaultKind kind) { return remaining_[static_cast<std::size_t>(kind)]; }
  std::array<std::atomic<std::uint64_t>, 2> remaining_{};
};

/// The error of a task whose submission is the operation that fails.
[[gnu::cold, gnu::noinline]] inline Status OrderedFailure(std::string_view what) {
  return {Code::kResourceAllocFail, Text(what, ": failure ordered by SAMPAN_FAULT")};
}

}  // namespace sampan
