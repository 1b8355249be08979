// A pool of device memory that is allocated and freed in stream order.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/api/backend.h"
#include "base/containers/free_ranges.h"
#include "base/containers/linked_list.h"
#include "base/error/status.h"
#include "core/memory/memory_registry.h"
#include "core/memory/pools/parked_blocks.h"
#include "core/streams/stream.h"

namespace sampan::core {

/// Which blocks of other streams an allocation may get.
struct PoolReuse {
  std::atomic<bool> follow_events{true};          ///< those that an event orders before it
  std::atomic<bool> opportunistic{true};          ///< those with completed work
  std::atomic<bool> internal_dependencies{true};  ///< any, after a wait in the stream
};

/// Thread-safe. A freed block keeps its record in the registry, which lookups do not find. The next
/// allocation of its size in the same stream gets it. That costs a lock if the work before is over.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  struct Options {
    MemorySource& source;
    Place place;
    std::size_t max_bytes = 0;  ///< 0: only the device is the limit
  };
  MemoryPool(MemoryRegistry& memory, const Options& options) : memory_(memory), options_(options) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Allocates memory for work that is queued on the stream from now on.
  Result<void*> Allocate(std::size_t bytes, Stream& stream);
  /// Frees a block when the work queued on the stream is completed. Only for memory of a pool.
  static Status Free(MemoryRegistry& memory, const AllocationUse& use, Stream& stream);
  /// Returns unused memory to the device until at most `keep_bytes` are reserved.
  void TrimTo(std::size_t keep_bytes) noexcept;
  /// Called by each synchronization.
  void TrimToThreshold() noexcept { TrimTo(threshold.load(std::memory_order_relaxed)); }
  /// From now on, freed blocks go back to the device when the work before their free is over: at the next
  /// TrimTo. Blocks in use stay valid until they are freed.
  void End() noexcept;
  /// The same, and parked blocks go back at once.
  void EndAtOnce() noexcept;
  /// Returns true if it holds no memory of the device.
  bool empty() const;

  std::int32_t device() const { return options_.place.device; }
  PoolReuse reuse;
  std::atomic<std::uint64_t> threshold{0};

  struct Usage {
    std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  };
  Usage usage() const;
  void ResetReservedHigh();
  void ResetUsedHigh();

 private:
  /// A block of device memory that the pool divides. It goes back when no part of it is used or parked.
  class Chunk {
   public:
    Chunk(MemorySource& source, const MemoryBlock& block, std::size_t pool_bytes)
        : bytes(pool_bytes), source_(source), block_(block) {}
    ~Chunk() { source_.Free(block_); }
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;

    const MemoryBlock& block() const { return block_; }
    FreeRanges::Range range() const { return {block_.address, bytes}; }

    const std::size_t bytes;  // of the pool; the device may round the block up
    std::size_t parts = 0;    // parts in use
    ListLinks<Chunk> links;   // of the unused chunks

   private:
    MemorySource& source_;
    const MemoryBlock block_;
  };
  using UnusedChunks = LinkedList<Chunk, &Chunk::links>;
  class Block;
  friend class Block;

  /// How a stream may reuse a parked block.
  enum class Reuse { kNo, kAfterWaits, kAtOnce };
  Reuse ReuseOf(const Block& block, const Timeline* stream) const;
  Block* TakeParked(std::size_t usable, Stream& stream, Reuse& reuse_of_chosen);
  /// Returns the number of the first wait; 0 if there are no points.
  static Result<std::uint64_t> QueueWaits(std::vector<Point>&& points, Stream& stream);
  Result<std::shared_ptr<Block>> MakeBlock(std::size_t usable);
  /// `span`: the bytes that the block takes from the pool.
  Result<std::shared_ptr<Block>> MakeBlock(std::size_t usable, std::size_t span);
  std::shared_ptr<Block> Carve(std::size_t usable, std::size_t span);
  Status Grow(std::size_t span);
  /// Turns parked blocks with completed work into free space.
  void RetireReached() noexcept;
  void Retire(Block& block) noexcept;
  /// Ends the handovers whose work is over: while there is one, each submission costs more.
  void EndReachedHandovers() noexcept;
  /// Ends the lingering blocks for which `may` is true.
  template <typename May>
  void RetireLingering(May may) noexcept;
  void CountUsed(std::size_t usable);
  void TrimLocked(std::size_t keep_bytes) noexcept;
  void ReturnPart(Chunk& chunk, const FreeRanges::Range& part) noexcept;

  MemoryRegistry& memory_;
  const Options options_;
  /// Recursive: on a GPU, asking whether work has passed retires it. That may release the last use of a block
  /// that was freed at once, and so destroy it.
  mutable std::recursive_mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<Chunk>> chunks_;
  UnusedChunks unused_;  // chunks without used parts
  FreeRanges free_;      // of all chunks, by address
  ParkedBlocks parked_;  // their records own them
  /// Freed by aclrtFree while work before an earlier free was pending. No one gets them before it is over.
  ParkableBlock::ByAge lingering_;
  ParkableBlock::ByAge handed_over_;  // blocks in use whose earlier owners' work may be pending
  bool ended_ = false;
  Usage usage_;
};

}  // namespace sampan::core
