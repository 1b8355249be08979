// Blocks of a pool that were freed in stream order, found by size and by age.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "backend/api/timeline.h"
#include "base/containers/linked_list.h"
#include "core/memory/pools/pending_points.h"

namespace sampan::core {

/// What a pool needs to know of a block to park it.
struct ParkableBlock {
  explicit ParkableBlock(std::size_t usable_bytes) : usable(usable_bytes) {}
  ParkableBlock(const ParkableBlock&) = delete;
  ParkableBlock& operator=(const ParkableBlock&) = delete;

  const std::size_t usable;
  PendingPoints pending;  ///< points at which the work before the last free is completed

  // For ParkedBlocks.
  ListLinks<ParkableBlock> size_links, age_links;
  using OfSize = LinkedList<ParkableBlock, &ParkableBlock::size_links>;
  using ByAge = LinkedList<ParkableBlock, &ParkableBlock::age_links>;
  OfSize* of_size = nullptr;
  ByAge* by_age = nullptr;

 protected:
  ~ParkableBlock() = default;
};

/// Does not own the blocks. The time of a call depends on the blocks that it returns, not on the number of
/// parked blocks. Not thread-safe.
class ParkedBlocks {
 public:
  using OfSize = ParkableBlock::OfSize;

  /// Reserves what Park needs. May throw std::bad_alloc, and then changes nothing.
  void Prepare(ParkableBlock& block, const Timeline* freed_on);
  /// Parks a block that was freed on the timeline given to Prepare.
  void Park(ParkableBlock& block) noexcept;
  void Unpark(ParkableBlock& block) noexcept;
  /// Parks a block that was unparked but not used.
  void ParkAgain(ParkableBlock& block) noexcept;

  /// The block of a size that was parked last, or null. OfSize::Behind gives the one parked before it.
  ParkableBlock* LastOfSize(std::size_t usable);
  std::size_t count() const { return count_; }

  /// Unparks blocks with completed work and calls `retire` for each. The oldest block of a timeline completes
  /// first, so this checks one pending block for each timeline.
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

  /// Visits the oldest blocks of each timeline while `go_on` is true. Takes those for which `may` is true.
  template <typename GoOn, typename May, typename Retire>
  void Take(GoOn go_on, May may, Retire retire) noexcept {
    const auto take_from = [&](const ByAge& blocks) {
      for (ParkableBlock* next = blocks.first(); next != nullptr && go_on(*next);) {
        ParkableBlock& block = *next;
        next = ByAge::Behind(block);
        if (!may(block)) continue;
        Unpark(block);  // may erase the list if it was the last block
        retire(block);
      }
    };
    for (auto entry = by_timeline_.begin(); entry != by_timeline_.end();)
      take_from((entry++)->second);
    take_from(parked_again_);
  }
  /// Erases an empty list, except for the last used timeline, which soon gets its next block.
  void ForgetIfEmpty(const Timeline* timeline) noexcept;

  std::unordered_map<std::size_t, OfSize> by_size_;         // the last one parked first
  std::unordered_map<const Timeline*, ByAge> by_timeline_;  // the oldest first; blocks keep their timelines
  ByAge parked_again_;  // of any timeline, because their own lists may be erased
  std::size_t recent_size_ = 0;
  const OfSize* recent_of_size_ = nullptr;
  const Timeline* recent_timeline_ = nullptr;
  ByAge* recent_by_age_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace sampan::core
