// A pool of device memory that is taken and given back in stream order.
#include "core/memory_pool.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/free_ranges.h"
#include "base/round.h"
#include "base/text.h"

namespace sampan {
namespace {

constexpr std::size_t kRounding = 32;
/// What is asked of the device at a time, at least.
constexpr std::size_t kChunkUnit = std::size_t{2} << 20;
/// How many blocks of a size are looked at before a new one is made.
constexpr std::size_t kMostLooks = 16;

}  // namespace

/// A block of the device's, cut up by the pool; goes back when nothing of it is used or kept.
class MemoryPool::Chunk {
 public:
  Chunk(MemorySource& source, const MemoryBlock& block, std::size_t all)
      : bytes(all), free(all), source_(source), block_(block) {}
  ~Chunk() { source_.Free(block_); }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  const MemoryBlock& block() const { return block_; }
  const std::size_t bytes;  // the pool's; the device may round a block up
  FreeRanges free;

 private:
  MemorySource& source_;
  const MemoryBlock block_;
};

/// One piece of a chunk, and the record that programs find it by.
class MemoryPool::Block final : public MemoryKeeper {
 public:
  Block(std::shared_ptr<MemoryPool> of_pool, std::shared_ptr<Chunk> of_chunk, std::size_t at, std::size_t all,
        std::size_t for_program)
      : pool(std::move(of_pool)), chunk(std::move(of_chunk)), offset(at), span(all), usable(for_program) {}
  ~Block() override {
    if (returned) return;
    // Freed at once, by aclrtFree or by a reset.
    const std::lock_guard lock(pool->mutex_);
    pool->usage_.used -= usable;
    chunk->free.Return(offset, span);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::uintptr_t address() const { return chunk->block().address + offset; }

  const std::shared_ptr<MemoryPool> pool;
  const std::shared_ptr<Chunk> chunk;
  const std::size_t offset, span, usable;
  Allocation* record = nullptr;
  std::vector<Block*>* list = nullptr;  // of its size; there as long as the pool
  Point freed_at;                       // where the work before the last free is over
  bool returned = false;                // the piece is the chunk's again
};

bool MemoryPool::Reusable(const Block& block, const Timeline* stream, Point& wait_for) const {
  wait_for = {};
  if (block.freed_at.timeline.get() == stream) return true;
  if (reuse.opportunistic.load(std::memory_order_relaxed) && block.freed_at.Passed()) return true;
  if (!reuse.internal_dependencies.load(std::memory_order_relaxed)) return false;
  wait_for = block.freed_at;
  return true;
}

std::vector<MemoryPool::Block*>* MemoryPool::ParkedOf(std::size_t usable) {
  if (recent_usable_ != usable) {
    const auto list = parked_.find(usable);
    if (list == parked_.end()) return nullptr;
    recent_usable_ = usable;
    recent_list_ = &list->second;
  }
  return recent_list_;
}

MemoryPool::Block* MemoryPool::TakeParked(std::size_t usable, Stream& stream, Point& wait_for) {
  auto* const list = ParkedOf(usable);
  if (list == nullptr || list->empty()) return nullptr;
  auto& blocks = *list;
  const Timeline* const timeline = stream.timeline();
  std::size_t chosen = blocks.size();
  const std::size_t looks = std::min(blocks.size(), kMostLooks);
  for (std::size_t i = 0; i < looks; ++i) {
    const std::size_t index = blocks.size() - 1 - i;
    Point wait;
    if (!Reusable(*blocks[index], timeline, wait)) continue;
    if (chosen == blocks.size() || wait.timeline == nullptr) {
      chosen = index;
      wait_for = std::move(wait);
      if (wait_for.timeline == nullptr) break;
    }
  }
  if (chosen == blocks.size()) return nullptr;
  Block* const block = blocks[chosen];
  blocks[chosen] = blocks.back();
  blocks.pop_back();
  --parked_count_;
  return block;
}

void MemoryPool::CountUsed(std::size_t usable) {
  usage_.used += usable;
  usage_.used_high = std::max(usage_.used_high, usage_.used);
}

Result<void*> MemoryPool::Allocate(std::size_t bytes, Stream& stream) {
  if (bytes > std::numeric_limits<std::size_t>::max() - kChunkUnit)  // all rounding together is less
    return Error{Code::kMemoryAllocation, Text("size ", bytes, " is too large")};
  const std::size_t usable = RoundUp(bytes, kRounding);
  Point wait_for;
  std::unique_lock lock(mutex_);
  if (Block* const block = TakeParked(usable, stream, wait_for)) {
    const auto park_again = [&] {
      block->list->push_back(block);
      ++parked_count_;
    };
    if (wait_for.timeline != nullptr) {
      lock.unlock();
      Status queued = stream.Enqueue(WaitTask{wait_for});
      lock.lock();
      if (!queued.ok()) {
        park_again();
        return queued;
      }
    }
    try {
      block->record = memory_.Revive(*block->record, bytes);
    } catch (...) {
      park_again();
      throw;
    }
    CountUsed(usable);
    return reinterpret_cast<void*>(block->address());
  }
  auto made = MakeBlock(usable, stream);
  if (!made.ok()) return made.TakeStatus();
  Block& block = **made;
  const auto publish = [&] {
    return memory_.Adopt({.address = block.address(),
                          .bytes = usable,
                          .asked_bytes = bytes,
                          .engine_delta = block.chunk->block().engine_delta,
                          .place = options_.place,
                          .page_bytes = block.chunk->block().page_bytes,
                          .made_by = "aclrtMemPoolMallocAsync",
                          .backtrace = {}},
                         *made, MemoryOrigin::kPool);
  };
  const auto give_back = [&] { block.chunk->free.Return(block.offset, block.span); };
  Result<Allocation*> known = nullptr;
  try {
    known = publish();
  } catch (...) {
    give_back();
    throw;
  }
  if (!known.ok()) {
    give_back();
    return known.TakeStatus();
  }
  block.record = *known;
  block.returned = false;
  CountUsed(usable);
  return reinterpret_cast<void*>(block.address());
}

Result<std::shared_ptr<MemoryPool::Block>> MemoryPool::MakeBlock(std::size_t usable, Stream& /*stream*/) {
  const std::size_t span = RoundUp(usable, kPageBytes);
  if (auto block = Carve(usable, span)) return block;
  if (parked_count_ > 0) {
    RetireReached();
    if (auto block = Carve(usable, span)) return block;
  }
  Status grown = Grow(span);
  if (!grown.ok()) {
    TrimLocked(0);
    grown = Grow(span);
  }
  if (!grown.ok()) return grown;
  return Carve(usable, span);
}

std::shared_ptr<MemoryPool::Block> MemoryPool::Carve(std::size_t usable, std::size_t span) {
  for (const auto& entry : chunks_) {
    const auto offset = entry.second->free.TakeSmallest(span);
    if (!offset) continue;
    try {
      auto block = std::make_shared<Block>(shared_from_this(), entry.second, *offset, span, usable);
      block->returned = true;  // until it is published: its end must not lock
      return block;
    } catch (...) {
      entry.second->free.Return(*offset, span);
      throw;
    }
  }
  return nullptr;
}

Status MemoryPool::Grow(std::size_t span) {
  std::size_t bytes = RoundUp(span, kChunkUnit);
  if (options_.most_bytes != 0) {
    const std::size_t room = options_.most_bytes - std::min(options_.most_bytes, usage_.reserved);
    if (span > room) {
      return {Code::kMemoryAllocation, Text("the pool holds ", usage_.reserved, " bytes, and may hold ",
                                            options_.most_bytes, ": there is no room for ", span, " more")};
    }
    bytes = std::min(bytes, RoundDown(room, kPageBytes));
  }
  auto block = options_.source.Allocate(bytes, Pages::kBySize);
  if (!block.ok()) return block.TakeStatus();
  std::shared_ptr<Chunk> chunk;
  try {
    chunk = std::make_shared<Chunk>(options_.source, *block, bytes);
  } catch (...) {
    options_.source.Free(*block);
    throw;
  }
  chunks_.emplace(block->address, std::move(chunk));
  usage_.reserved += bytes;
  usage_.reserved_high = std::max(usage_.reserved_high, usage_.reserved);
  return {};
}

void MemoryPool::Retire(Block& block) noexcept {
  block.returned = true;
  block.chunk->free.Return(block.offset, block.span);
  memory_.Retire(*block.record);
}

void MemoryPool::RetireReached() noexcept {
  for (auto& entry : parked_) {
    std::erase_if(entry.second, [&](Block* block) {
      if (!block->freed_at.Passed()) return false;
      Retire(*block);
      --parked_count_;
      return true;
    });
  }
}

Status MemoryPool::Free(MemoryRegistry& memory, const AllocationUse& use, Stream& stream) {
  // The use keeps the record, and with it the block, from going away.
  Block& block = static_cast<Block&>(*memory.KeeperOf(*use.get()));
  MemoryPool& pool = *block.pool;
  const std::lock_guard lock(pool.mutex_);
  if (block.list == nullptr) block.list = &pool.parked_[block.usable];
  block.list->push_back(&block);
  if (!use->Park()) {
    block.list->pop_back();
    return {Code::kParamInvalid,
            Text("ptr ", Hex(block.address()),
                 " was freed by another thread at the same time: ", Describe(*use.get()))};
  }
  ++pool.parked_count_;
  stream.GetLast(block.freed_at);
  pool.usage_.used -= block.usable;
  if (!pool.ended_) return {};
  block.list->pop_back();
  --pool.parked_count_;
  pool.Retire(block);
  pool.TrimLocked(0);
  return {};
}

void MemoryPool::TrimLocked(std::size_t keep_bytes) noexcept {
  if (usage_.reserved <= keep_bytes) return;
  RetireReached();
  std::erase_if(chunks_, [&](const auto& entry) {
    const std::size_t bytes = entry.second->bytes;
    if (!entry.second->free.AllFree() || usage_.reserved - bytes < keep_bytes) return false;
    usage_.reserved -= bytes;
    return true;
  });
}

void MemoryPool::TrimTo(std::size_t keep_bytes) noexcept {
  const std::lock_guard lock(mutex_);
  TrimLocked(keep_bytes);
}

void MemoryPool::End() noexcept {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (auto& entry : parked_) {
    for (Block* block : entry.second)
      Retire(*block);
  }
  for (auto& entry : parked_)
    entry.second.clear();
  parked_count_ = 0;
  TrimLocked(0);
}

MemoryPool::Usage MemoryPool::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}
void MemoryPool::ResetReservedHigh() {
  const std::lock_guard lock(mutex_);
  usage_.reserved_high = usage_.reserved;
}
void MemoryPool::ResetUsedHigh() {
  const std::lock_guard lock(mutex_);
  usage_.used_high = usage_.used;
}

}  // namespace sampan
