// A ring of pinned host memory for the arguments and results of launched tasks. Reused when the task
// completes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "backend/cuda/memory/reserved_memory.h"
#include "base/error/status.h"

namespace sampan::cuda {

/// Owned by one launcher. Not thread-safe. Takes its memory at the first use.
class PinnedRing {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20;
  static constexpr std::size_t kAlignment = 256;

  explicit PinnedRing(ReservedMemory& pinned) : pinned_(pinned) {}
  ~PinnedRing();
  PinnedRing(const PinnedRing&) = delete;
  PinnedRing& operator=(const PinnedRing&) = delete;

  /// Returns the task that must complete before `bytes` are free; 0 if they are free now.
  std::uint64_t BusyUntil(std::size_t bytes) const;
  /// Memory for the task until it completes. Call it only after BusyUntil returned 0. `bytes` is at most
  /// kBytes.
  Result<std::byte*> Take(std::size_t bytes, std::uint64_t sequence);
  /// Returns true if no task uses it.
  bool idle() const { return pieces_.empty(); }
  /// Tasks up to `done` are completed.
  void Retire(std::uint64_t done);

 private:
  struct Piece {
    std::uint64_t sequence;
    std::size_t end;
  };
  /// Where the next piece begins. A piece does not cross the end of the ring.
  std::size_t BeginOf(std::size_t bytes) const;

  ReservedMemory& pinned_;
  MemoryBlock block_;
  // Positions only grow; modulo kBytes they are offsets.
  std::size_t head_ = 0, tail_ = 0;
  std::deque<Piece> pieces_;
};

}  // namespace sampan::cuda
