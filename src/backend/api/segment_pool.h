// Reuses the memory of segment lists.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <span>

#include "backend/api/segment_list.h"
#include "base/error/assert.h"
#include "base/error/status.h"
#include "base/threads/spin_lock.h"

namespace sampan {

/// Keeps returned memory, up to a limit, in sizes of powers of two. The derived class provides the memory,
/// and calls Clear in its destructor. Thread-safe.
class SegmentPool : public SegmentStore {
 public:
  Result<std::span<Segment>> Take(std::size_t segments) final {
    const std::size_t bytes = std::bit_ceil(std::max(segments * sizeof(Segment), kMinBytes));
    {
      const std::lock_guard lock(lock_);
      if (Idle*& first = IdleOf(bytes); first != nullptr) {
        SAMPAN_ASSERT(idle_bytes_ >= bytes);
        idle_bytes_ -= bytes;
        return RoomOf(std::exchange(first, first->next), bytes);
      }
    }
    auto memory = Allocate(bytes);
    if (!memory.ok()) return memory.TakeStatus();
    return RoomOf(*memory, bytes);
  }

  void GiveBack(std::span<Segment> room) noexcept final {
    const std::size_t bytes = std::bit_ceil(room.size_bytes());
    SAMPAN_ASSERT(bytes >= kMinBytes);
    {
      const std::lock_guard lock(lock_);
      if (idle_bytes_ + bytes <= kMaxIdleBytes) {
        IdleOf(bytes) = new (room.data()) Idle{IdleOf(bytes)};
        idle_bytes_ += bytes;
        return;
      }
    }
    Free(reinterpret_cast<std::byte*>(room.data()), bytes);
  }

 protected:
  virtual Result<std::byte*> Allocate(std::size_t bytes) = 0;
  virtual void Free(std::byte* memory, std::size_t bytes) noexcept = 0;

  /// Frees all idle memory.
  void Clear() noexcept {
    for (std::size_t bits = 0; bits < idle_.size(); ++bits) {
      while (Idle* const first = idle_[bits]) {
        idle_[bits] = first->next;
        Free(reinterpret_cast<std::byte*>(first), std::size_t{1} << bits);
      }
    }
  }

 private:
  static constexpr std::size_t kMinBytes = 4096;
  static constexpr std::size_t kMaxIdleBytes = std::size_t{16} << 20;
  /// Stored in the idle memory itself.
  struct Idle {
    Idle* next;
  };

  static std::span<Segment> RoomOf(void* memory, std::size_t bytes) {
    return {static_cast<Segment*>(memory), bytes / sizeof(Segment)};
  }
  Idle*& IdleOf(std::size_t bytes) { return idle_[static_cast<std::size_t>(std::countr_zero(bytes))]; }

  SpinLock lock_;
  std::array<Idle*, 64> idle_{};  // by the logarithm of their size
  std::size_t idle_bytes_ = 0;
};

/// Ordinary memory.
class HeapSegmentPool final : public SegmentPool {
 public:
  ~HeapSegmentPool() override { Clear(); }

 private:
  Result<std::byte*> Allocate(std::size_t bytes) override {
    return static_cast<std::byte*>(::operator new(bytes));
  }
  void Free(std::byte* memory, std::size_t) noexcept override { ::operator delete(memory); }
};

}  // namespace sampan
