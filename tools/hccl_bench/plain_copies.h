// The traffic of a collective as plain memcpy between mappings that all ranks share: what it would cost
// without a runtime.
#pragma once

#include <cstddef>

#include "case.h"

namespace hccl_bench {

/// Memory that threads and forked processes share. Made before the ranks are.
class PlainCopies {
 public:
  /// Room for each rank's input and output.
  PlainCopies(u32 ranks, const collectives::Room& room);
  ~PlainCopies();
  PlainCopies(const PlainCopies&) = delete;
  PlainCopies& operator=(const PlainCopies&) = delete;

  /// Does what the rank has to copy in one run of the case: as many copies of the same lengths, from the
  /// peers' memory as from its own.
  void Run(u32 rank, const collectives::Case& what) const;

 private:
  std::byte* Input(u32 rank) const;
  std::byte* Output(u32 rank) const;

  u32 ranks_;
  collectives::Room room_;
  std::size_t bytes_;
  std::byte* memory_;
};

}  // namespace hccl_bench
