// A pool of device memory that is taken and given back in stream order.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "backend/api/backend.h"
#include "base/containers/free_ranges.h"
#include "base/containers/linked_list.h"
#include "base/error/status.h"
#include "core/memory/memory_registry.h"
#include "core/memory/parked_blocks.h"
#include "core/objects/stream.h"

namespace sampan {

/// Which blocks of other streams an allocation may get.
struct PoolReuse {
  std::atomic<bool> follow_events{true};          ///< those that an event has put before it
  std::atomic<bool> opportunistic{true};          ///< those whose last work happens to be over
  std::atomic<bool> internal_dependencies{true};  ///< any, at the price of a wait in the stream
};

/// Thread-safe. A block given back stays a record of the registry that cannot be found. The next allocation
/// of its size in the same stream gets it for the price of a lock.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  struct Options {
    MemorySource& source;
    Place place;
    std::size_t max_bytes = 0;  ///< 0: no bound but the device's
  };
  MemoryPool(MemoryRegistry& memory, const Options& options) : memory_(memory), options_(options) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Memory for work that is queued on the stream from now on.
  Result<void*> Allocate(std::size_t bytes, Stream& stream);
  /// Gives a block back once the work queued on the stream is over. For memory whose origin is a pool.
  static Status Free(MemoryRegistry& memory, const AllocationUse& use, Stream& stream);
  /// Gives unused memory back to the device, until no more than that is reserved.
  void TrimTo(std::size_t keep_bytes) noexcept;
  /// What a synchronisation does.
  void TrimToThreshold() noexcept { TrimTo(threshold.load(std::memory_order_relaxed)); }
  /// Nothing is kept from now on; what is in use stays so until it is given back.
  void End() noexcept;

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
  /// A block of the device's, cut up by the pool; goes back when nothing of it is used or kept.
  class Chunk {
   public:
    Chunk(MemorySource& source, const MemoryBlock& block, std::size_t pool_bytes)
        : bytes(pool_bytes), source_(source), block_(block) {}
    ~Chunk() { source_.Free(block_); }
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;

    const MemoryBlock& block() const { return block_; }
    FreeRanges::Range range() const { return {block_.address, bytes}; }

    const std::size_t bytes;  // the pool's; the device may round a block up
    std::size_t parts = 0;    // that are handed out
    ListLinks<Chunk> links;   // of the unused chunks

   private:
    MemorySource& source_;
    const MemoryBlock block_;
  };
  using UnusedChunks = LinkedList<Chunk, &Chunk::links>;
  class Block;
  friend class Block;

  /// How a stream may get a parked block.
  enum class Reuse { kNo, kAfterWaits, kAtOnce };
  Reuse ReuseOf(const Block& block, const Timeline* stream) const;
  Block* TakeParked(std::size_t usable, Stream& stream, Reuse& reuse_of_chosen);
  /// Puts the stream behind all work that may still touch the block.
  static Status QueueWaits(const Block& block, Stream& stream);
  Result<std::shared_ptr<Block>> MakeBlock(std::size_t usable, Stream& stream);
  std::shared_ptr<Block> Carve(std::size_t usable, std::size_t span);
  Status Grow(std::size_t span);
  /// Makes records whose work is over plain free space again.
  void RetireReached() noexcept;
  void Retire(Block& block) noexcept;
  void CountUsed(std::size_t usable);
  void TrimLocked(std::size_t keep_bytes) noexcept;
  void ReturnPart(Chunk& chunk, const FreeRanges::Range& part) noexcept;

  MemoryRegistry& memory_;
  const Options options_;
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<Chunk>> chunks_;
  UnusedChunks unused_;  // those that are free as a whole
  FreeRanges free_;      // of all chunks, by address
  ParkedBlocks parked_;  // their records keep them
  bool ended_ = false;
  Usage usage_;
};

}  // namespace sampan
