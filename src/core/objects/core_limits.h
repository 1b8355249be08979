// Limits of cores that a program sets and reads back. No core exists here, so nothing obeys them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sampan::core {

enum class CoreKind : std::size_t { kCube = 0, kVector = 1 };

/// Thread-safe. Belongs to a device or a stream.
class CoreLimits {
 public:
  std::optional<std::uint32_t> Get(CoreKind kind) const {
    const std::int64_t limit = Of(kind).load(std::memory_order_relaxed);
    return limit < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(limit));
  }
  void Set(CoreKind kind, std::uint32_t cores) {
    limits_[static_cast<std::size_t>(kind)].store(cores, std::memory_order_relaxed);
  }
  void Reset() {
    for (auto& limit : limits_)
      limit.store(kNone, std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t kNone = -1;

  const std::atomic<std::int64_t>& Of(CoreKind kind) const { return limits_[static_cast<std::size_t>(kind)]; }

  std::array<std::atomic<std::int64_t>, 2> limits_{kNone, kNone};
};

}  // namespace sampan::core
