// The traffic of a collective as plain copies and sums: what it would cost without a runtime.
#pragma once

#include <cstddef>
#include <vector>

#include "case.h"

namespace bench {

/// Where a rank's data lies.
struct RankBuffers {
  std::byte* input;
  std::byte* output;
};

struct Transfer {
  std::byte* dst;
  const std::byte* src;
  u64 bytes;
  bool adds = false;  ///< elements of single precision, to what the destination has
};
using Transfers = std::vector<Transfer>;

/// The rank's part of one run of the case: as many copies of the same lengths, from the peers' memory as from
/// its own. For sums of single precision, the shortest way to the same result. Throws for what is neither.
Transfers TransfersOf(const collectives::Case& what, u32 rank, const std::vector<RankBuffers>& ranks);

/// One after the other, with memcpy and a loop that adds, and without waiting for another rank.
void Perform(const Transfers& transfers);

/// Buffers in memory that threads and forked processes share. Made before the ranks are.
class SharedBuffers {
 public:
  /// Room for each rank's input and output.
  SharedBuffers(u32 ranks, const collectives::Room& room);
  ~SharedBuffers();
  SharedBuffers(const SharedBuffers&) = delete;
  SharedBuffers& operator=(const SharedBuffers&) = delete;

  /// By rank.
  const std::vector<RankBuffers>& all() const { return all_; }

 private:
  std::size_t bytes_;
  std::byte* memory_;
  std::vector<RankBuffers> all_;
};

}  // namespace bench
