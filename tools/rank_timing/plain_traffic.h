// The traffic of a collective between mappings that all ranks share: what it would cost without a runtime.
#pragma once

#include <cstddef>

#include "case.h"

namespace rank_timing {

/// Memory that threads and forked processes share. Made before the ranks are.
class PlainTraffic {
 public:
  /// Room for each rank's input and output.
  PlainTraffic(u32 ranks, const collectives::Room& room);
  ~PlainTraffic();
  PlainTraffic(const PlainTraffic&) = delete;
  PlainTraffic& operator=(const PlainTraffic&) = delete;

  /// Does the rank's part of one run of the case, without waiting for anybody: as many copies of the same
  /// lengths, from the peers' memory as from its own. For sums of single precision, the shortest way to the
  /// same result with a loop that adds. Throws for what is neither.
  void Run(u32 rank, const collectives::Case& what) const;

  std::byte* Input(u32 rank) const;
  std::byte* Output(u32 rank) const;

 private:
  void Move(u32 rank, const collectives::Case& what, u64 bytes) const;
  void Add(u32 rank, const collectives::Case& what) const;

  u32 ranks_;
  collectives::Room room_;
  std::size_t bytes_;
  std::byte* memory_;
};

}  // namespace rank_timing
