// Blocks of a pool that were given back in stream order, found by size and by age.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "backend/api/timeline.h"
#include "base/containers/linked_list.h"
#include "core/memory/pending_points.h"

namespace sampan {

/// What a pool has to know of a block to park it.
struct ParkableBlock {
  explicit ParkableBlock(std::size_t usable_bytes) : usable(usable_bytes) {}
  ParkableBlock(const ParkableBlock&) = delete;
  ParkableBlock& operator=(const ParkableBlock&) = delete;

  const std::size_t usable;
  PendingPoints pending;  ///< where the work before the last free is over

  // For ParkedBlocks.
  ListLinks<ParkableBlock> size_links, age_links;
  using OfSize = LinkedList<ParkableBlock, &ParkableBlock::size_links>;
  using ByAge = LinkedList<ParkableBlock, &ParkableBlock::age_links>;
  OfSize* of_size = nullptr;
  ByAge* by_age = nullptr;

 protected:
  ~ParkableBlock() = default;
};

/// Does not own the blocks. No call takes longer if more blocks are parked, apart from the blocks that it
/// hands on. Not thread-safe.
class ParkedBlocks {
 public:
  using OfSize = ParkableBlock::OfSize;

  /// Makes what Park needs. Throws std::bad_alloc with nothing changed.
  void Prepare(ParkableBlock& block, const Timeline* freed_on);
  /// The block was freed on the timeline that it was prepared for.
  void Park(ParkableBlock& block) noexcept;
  void Unpark(ParkableBlock& block) noexcept;
  /// Parks a block that was unparked and not handed out.
  void ParkAgain(ParkableBlock& block) noexcept;

  /// The last block parked of a size, or null; OfSize::Behind is the one parked before it.
  ParkableBlock* LastOfSize(std::size_t usable);
  std::size_t count() const { return count_; }

  /// Unparks the blocks whose work is over, and hands each of them on. On a timeline the oldest is over
  /// first, so that this looks at one pending block for each timeline.
  template <typename Retire>
  void TakePassed(Retire retire) noexcept {
    Take([](const ParkableBlock& block) { return block.pending.newest().Passed(); },
         [](const ParkableBlock& block) { return block.pending.OlderPassed(); }, retire);
  }
  template <typename Retire>
  void TakeAll(Retire retire) noexcept {
    const auto always = [](const ParkableBlock&) { return true; };
    Take(always, always, retire);
  }

 private:
  using ByAge = ParkableBlock::ByAge;

  /// Visits the oldest blocks of each timeline while the first condition holds. Takes those for which the
  /// second one holds.
  template <typename GoOn, typename May, typename Retire>
  void Take(GoOn go_on, May may, Retire retire) noexcept {
    const auto take_from = [&](const ByAge& blocks) {
      for (ParkableBlock* next = blocks.first(); next != nullptr && go_on(*next);) {
        ParkableBlock& block = *next;
        next = ByAge::Behind(block);
        if (!may(block)) continue;
        Unpark(block);  // the last one may erase the list
        retire(block);
      }
    };
    for (auto entry = by_timeline_.begin(); entry != by_timeline_.end();)
      take_from((entry++)->second);
    take_from(parked_again_);
  }
  /// Erases an empty list, except for the timeline that was used last: its next block is about to come.
  void ForgetIfEmpty(const Timeline* timeline) noexcept;

  std::unordered_map<std::size_t, OfSize> by_size_;         // the last one parked first
  std::unordered_map<const Timeline*, ByAge> by_timeline_;  // the oldest first; blocks keep their timelines
  ByAge parked_again_;                                      // of any timeline: their own lists may be gone
  std::size_t recent_size_ = 0;
  const OfSize* recent_of_size_ = nullptr;
  const Timeline* recent_timeline_ = nullptr;
  ByAge* recent_by_age_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace sampan
