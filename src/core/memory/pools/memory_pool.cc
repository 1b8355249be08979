// A pool of device memory that is allocated and freed in stream order.
#include "core/memory/pools/memory_pool.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/containers/round.h"
#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/threads/thread_sanitizer.h"

namespace sampan::core {
namespace {

constexpr std::size_t kRounding = 32;
/// The minimum size of a chunk that a pool takes from the device.
constexpr std::size_t kChunkUnit = std::size_t{2} << 20;
/// How many parked blocks of a size are checked before a new one is made.
constexpr std::size_t kMaxLooks = 16;

}  // namespace

/// A part of a chunk, and its record in the registry.
class MemoryPool::Block final : public MemoryKeeper, public ParkableBlock {
 public:
  Block(std::shared_ptr<MemoryPool> of_pool, std::shared_ptr<Chunk> of_chunk, const FreeRanges::Range& part,
        std::size_t for_program)
      : ParkableBlock(for_program), pool(std::move(of_pool)), chunk(std::move(of_chunk)), range(part) {}
  ~Block() override {
    if (returned) return;
    // Freed immediately, by aclrtFree or by a reset.
    const std::lock_guard lock(pool->mutex_);
    LeaveHandedOver();
    if (!lingers) CountFreed();
    pool->ReturnPart(*chunk, range);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  bool FreeIsPending() const override {
    const std::lock_guard lock(pool->mutex_);
    return pending.AnyPending();
  }
  bool FreeBehindPending() override {
    const std::lock_guard lock(pool->mutex_);
    Allocation* const lingering = pool->memory_.FreeAndLinger(*record);
    if (lingering == nullptr) return false;
    LeaveHandedOver();
    record = lingering;
    lingers = true;
    CountFreed();
    pool->lingering_.PushBack(*this);
    return true;
  }
  bool HandoverIsOver() override {
    std::vector<Point> points;
    {
      const std::lock_guard lock(pool->mutex_);
      points = pending.PendingFor(nullptr);
    }
    return std::all_of(points.begin(), points.end(), [](const Point& point) { return point.PassedByNow(); });
  }
  Result<std::uint64_t> AwaitHandover(Stream& stream, Allocation& memory) override {
    const auto is_of_stream = [&](const HandoverWait& wait) { return wait.queue == stream.label().number; };
    std::vector<Point> points;
    {
      const std::lock_guard lock(pool->mutex_);
      if (pending.AllPassed()) {
        EndHandover(memory);
        return std::uint64_t{0};
      }
      const auto known = std::find_if(waits.begin(), waits.end(), is_of_stream);
      if (known != waits.end() && !stream.Discarded(known->first)) return known->first;
      points = pending.PendingFor(stream.timeline());
    }
    auto first = QueueWaits(std::move(points), stream);
    if (!first.ok() || *first == 0) return first;
    const std::lock_guard lock(pool->mutex_);
    std::erase_if(waits, is_of_stream);
    waits.push_back({stream.label().number, *first});
    return first;
  }
  void BeginHandover() noexcept {
    pool->memory_.BeginHandover(*record);
    pool->handed_over_.PushBack(*this);
    in_handover = true;
  }
  /// `memory`: the record that the caller uses.
  void EndHandover(Allocation& memory) noexcept {
    pool->memory_.EndHandover(memory);
    LeaveHandedOver();
  }
  void LeaveHandedOver() noexcept {
    if (std::exchange(in_handover, false)) pool->handed_over_.Remove(*this);
  }
  void CountFreed() const noexcept {
    SAMPAN_ASSERT(pool->usage_.used >= usable);
    pool->usage_.used -= usable;
  }

  std::uintptr_t address() const { return range.begin; }

  const std::shared_ptr<MemoryPool> pool;
  const std::shared_ptr<Chunk> chunk;
  const FreeRanges::Range range;
  Allocation* record = nullptr;
  /// The streams that wait for the work of earlier owners, and their first waits. When an abort has dropped
  /// that, a stream has to wait again.
  struct HandoverWait {
    std::uint64_t queue, first;
  };
  std::vector<HandoverWait> waits;
  bool returned = false;     // the part belongs to its chunk again
  bool in_handover = false;  // and so in that list of the pool
  bool lingers = false;      // the program has freed it, while work before an earlier free is pending
};

MemoryPool::Reuse MemoryPool::ReuseOf(const Block& block, const Timeline* stream) const {
  const PendingPoints& pending = block.pending;
  const bool own = pending.newest().timeline.get() == stream;
  // A program that looks for races has to see the waits, even if they are over.
  if (!own && races::Watched()) return Reuse::kAfterWaits;
  const bool over = own || (reuse.opportunistic.load(std::memory_order_relaxed) && pending.newest().Passed());
  if (over && pending.OlderPassed(stream)) return Reuse::kAtOnce;
  return reuse.internal_dependencies.load(std::memory_order_relaxed) ? Reuse::kAfterWaits : Reuse::kNo;
}

MemoryPool::Block* MemoryPool::TakeParked(std::size_t usable, Stream& stream, Reuse& reuse_of_chosen) {
  const Timeline* const timeline = stream.timeline();
  Block* chosen = nullptr;
  std::size_t looks = 0;
  for (ParkableBlock* each = parked_.LastOfSize(usable); each != nullptr && looks < kMaxLooks; ++looks) {
    Block& block = static_cast<Block&>(*each);
    each = ParkedBlocks::OfSize::Behind(block);
    const Reuse reuse_of_block = ReuseOf(block, timeline);
    if (reuse_of_block == Reuse::kNo || (chosen != nullptr && reuse_of_block != Reuse::kAtOnce)) continue;
    chosen = &block;
    reuse_of_chosen = reuse_of_block;
    if (reuse_of_block == Reuse::kAtOnce) break;
  }
  if (chosen != nullptr) parked_.Unpark(*chosen);
  return chosen;
}

Result<std::uint64_t> MemoryPool::QueueWaits(std::vector<Point>&& points, Stream& stream) {
  std::uint64_t first = 0;
  for (Point& point : points) {
    auto queued = stream.EnqueueWithPoint(WaitTask{std::move(point)});
    if (!queued.ok()) return queued.TakeStatus();
    if (first == 0) first = queued->number;
  }
  return first;
}

void MemoryPool::CountUsed(std::size_t usable) {
  usage_.used += usable;
  usage_.used_high = std::max(usage_.used_high, usage_.used);
  SAMPAN_ASSERT(usage_.used <= usage_.reserved);
}

Result<void*> MemoryPool::Allocate(std::size_t bytes, Stream& stream) {
  // Rounding and a gap add less than two chunks.
  if (bytes > std::numeric_limits<std::size_t>::max() - 2 * kChunkUnit)
    return Error{Code::kMemoryAllocation, Text("size ", bytes, " is too large")};
  const std::size_t usable = RoundUp(bytes, kRounding);
  Reuse reuse_of_block = Reuse::kNo;
  std::unique_lock lock(mutex_);
  if (Block* const block = TakeParked(usable, stream, reuse_of_block)) {
    try {
      if (reuse_of_block == Reuse::kAfterWaits) {
        lock.unlock();  // the block is in no list: no other thread has it
        auto first = QueueWaits(block->pending.PendingFor(stream.timeline()), stream);
        lock.lock();
        if (!first.ok()) {
          parked_.ParkAgain(*block);
          return first.TakeStatus();
        }
        block->waits.clear();
        if (*first != 0) block->waits.push_back({stream.label().number, *first});
      }
      block->record = memory_.Revive(*block->record, bytes, block->pending.AnyPending());
      if (reuse_of_block == Reuse::kAfterWaits) block->BeginHandover();
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      parked_.ParkAgain(*block);
      throw;
    }
    CountUsed(usable);
    return reinterpret_cast<void*>(block->address());
  }
  auto made = MakeBlock(usable);
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
  const auto give_back = [&] { ReturnPart(*block.chunk, block.range); };
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

Result<std::shared_ptr<MemoryPool::Block>> MemoryPool::MakeBlock(std::size_t usable) {
  const std::size_t span = RoundUp(usable, kDevicePageBytes);
  // Gaps would fill a bounded pool before the program does. A piece of whole chunks has the device's gap.
  const bool has_room = options_.max_bytes == 0 && span % kChunkUnit != 0;
  if (const std::size_t gap = options_.source.gap_bytes(); gap != 0 && has_room) {
    auto block = MakeBlock(usable, span + gap);
    if (block.ok()) return block;  // otherwise there is no room for a gap
  }
  return MakeBlock(usable, span);
}

Result<std::shared_ptr<MemoryPool::Block>> MemoryPool::MakeBlock(std::size_t usable, std::size_t span) {
  if (auto block = Carve(usable, span)) return block;
  if (parked_.count() > 0 || !lingering_.empty()) {
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
  const auto address = free_.TakeLowest(span);
  if (!address) return nullptr;
  const std::shared_ptr<Chunk>& chunk = std::prev(chunks_.upper_bound(*address))->second;
  const FreeRanges::Range part{*address, span};
  if (chunk->parts++ == 0) unused_.Remove(*chunk);
  try {
    auto block = std::make_shared<Block>(shared_from_this(), chunk, part, usable);
    block->returned = true;  // until it is published, its destructor must not lock
    return block;
  } catch (...) {
    ReturnPart(*chunk, part);
    throw;
  }
}

void MemoryPool::ReturnPart(Chunk& chunk, const FreeRanges::Range& part) noexcept {
  SAMPAN_ASSERT(chunk.parts > 0 &&
                RangeHolds(chunk.range().begin, chunk.range().bytes, part.begin, part.bytes));
  free_.Return(part, chunk.range());
  if (--chunk.parts == 0) unused_.PushBack(chunk);
}

Status MemoryPool::Grow(std::size_t span) {
  std::size_t bytes = RoundUp(span, kChunkUnit);
  if (options_.max_bytes != 0) {
    const std::size_t room = options_.max_bytes - std::min(options_.max_bytes, usage_.reserved);
    if (span > room) {
      return {Code::kMemoryAllocation, Text("the pool holds ", usage_.reserved, " bytes, and may hold ",
                                            options_.max_bytes, ": there is no room for ", span, " more")};
    }
    bytes = std::min(bytes, RoundDown(room, kDevicePageBytes));
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
  const auto added = chunks_.emplace(block->address, std::move(chunk)).first;
  try {
    free_.Add(added->second->range());
  } catch (...) {
    chunks_.erase(added);
    throw;
  }
  unused_.PushBack(*added->second);
  usage_.reserved += bytes;
  usage_.reserved_high = std::max(usage_.reserved_high, usage_.reserved);
  return {};
}

void MemoryPool::Retire(Block& block) noexcept {
  SAMPAN_ASSERT(!block.returned && block.record != nullptr);
  block.pending.Observe();
  block.returned = true;
  ReturnPart(*block.chunk, block.range);
  memory_.Retire(*block.record);
}

void MemoryPool::RetireReached() noexcept {
  parked_.TakePassed([&](ParkableBlock& block) { Retire(static_cast<Block&>(block)); });
  RetireLingering([](const ParkableBlock& block) { return block.pending.AllPassed(); });
}

template <typename May>
void MemoryPool::RetireLingering(May may) noexcept {
  for (ParkableBlock* next = lingering_.first(); next != nullptr;) {
    Block& block = static_cast<Block&>(*next);
    next = ParkableBlock::ByAge::Behind(block);
    if (!may(block)) continue;
    lingering_.Remove(block);
    block.pending.Observe();
    memory_.RetireLingering(*block.record);  // without a use left, this destroys the block
  }
}

void MemoryPool::EndReachedHandovers() noexcept {
  for (ParkableBlock* next = handed_over_.first(); next != nullptr;) {
    Block& block = static_cast<Block&>(*next);
    next = ParkableBlock::ByAge::Behind(block);
    if (!block.pending.AnyPending()) block.EndHandover(*block.record);
  }
}

Status MemoryPool::Free(MemoryRegistry& memory, const AllocationUse& use, Stream& stream) {
  // The use keeps the record alive, and so the block.
  Block& block = static_cast<Block&>(*memory.KeeperOf(*use.get()));
  MemoryPool& pool = *block.pool;
  const std::lock_guard lock(pool.mutex_);
  pool.parked_.Prepare(block, stream.timeline());
  if (!use->Park()) {
    return {Code::kParamInvalid,
            Text("ptr ", Hex(block.address()),
                 " was freed by another thread at the same time: ", Describe(*use.get()))};
  }
  block.EndHandover(*use.get());
  block.pending.AddFree(stream);
  block.CountFreed();
  pool.parked_.Park(block);
  if (pool.ended_) pool.TrimLocked(0);
  return {};
}

void MemoryPool::TrimLocked(std::size_t keep_bytes) noexcept {
  if (usage_.reserved <= keep_bytes) return;
  RetireReached();
  for (Chunk* next = unused_.first(); next != nullptr && usage_.reserved > keep_bytes;) {
    Chunk& chunk = *next;
    next = UnusedChunks::Behind(chunk);
    if (usage_.reserved - chunk.bytes < keep_bytes) continue;
    SAMPAN_ASSERT(chunk.parts == 0);
    usage_.reserved -= chunk.bytes;
    free_.Remove(chunk.range());
    unused_.Remove(chunk);
    chunks_.erase(chunks_.find(chunk.block().address));
  }
}

void MemoryPool::TrimTo(std::size_t keep_bytes) noexcept {
  const std::lock_guard lock(mutex_);
  EndReachedHandovers();
  TrimLocked(keep_bytes);
}

void MemoryPool::End() noexcept {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  TrimLocked(0);
}

void MemoryPool::EndAtOnce() noexcept {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  parked_.TakeAll([&](ParkableBlock& block) { Retire(static_cast<Block&>(block)); });
  RetireLingering([](const ParkableBlock&) { return true; });
  TrimLocked(0);
}

bool MemoryPool::empty() const {
  const std::lock_guard lock(mutex_);
  return chunks_.empty();
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

}  // namespace sampan::core
