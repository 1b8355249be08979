// Small unique numbers for streams and events.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/containers/reserve.h"
#include "base/error/assert.h"

namespace sampan::core {

class IdPool;

/// Owns one number; the destructor returns it. Move-only; empty after a move.
class IdLease {
 public:
  IdLease(std::shared_ptr<IdPool> pool, std::uint32_t id) : pool_(std::move(pool)), id_(id) {}
  IdLease(IdLease&&) noexcept = default;
  IdLease& operator=(IdLease&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~IdLease();
  std::uint32_t id() const { return id_; }

 private:
  std::shared_ptr<IdPool> pool_;
  std::uint32_t id_;
};

/// Thread-safe. Takes the number that was returned last, or else a new one.
class IdPool : public std::enable_shared_from_this<IdPool> {
 public:
  explicit IdPool(std::uint32_t max_ids) : max_ids_(max_ids) {}

  /// Returns nothing if all numbers are in use. May throw std::bad_alloc, and then changes nothing.
  std::optional<IdLease> Take() {
    const std::lock_guard lock(mutex_);
    if (returned_.empty()) {
      if (next_ == max_ids_) return std::nullopt;
      ReserveDoubling(returned_, next_ + std::size_t{1});  // so that returning a number does not allocate
      return IdLease(shared_from_this(), next_++);
    }
    SAMPAN_ASSERT(returned_.size() <= next_ && next_ <= max_ids_);
    const std::uint32_t id = returned_.back();
    returned_.pop_back();
    return IdLease(shared_from_this(), id);
  }
  std::uint32_t available() const {
    const std::lock_guard lock(mutex_);
    return max_ids_ - next_ + static_cast<std::uint32_t>(returned_.size());
  }

 private:
  friend class IdLease;
  void GiveBack(std::uint32_t id) noexcept {
    const std::lock_guard lock(mutex_);
    SAMPAN_ASSERT(id < next_ && returned_.size() < next_);   // once for each Take
    SAMPAN_ASSERT(returned_.size() < returned_.capacity());  // Take has reserved the place
    returned_.push_back(id);
  }

  const std::uint32_t max_ids_;
  mutable std::mutex mutex_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> returned_;
};

inline IdLease::~IdLease() {
  if (pool_ != nullptr) pool_->GiveBack(id_);
}

}  // namespace sampan::core
