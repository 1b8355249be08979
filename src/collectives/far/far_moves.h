// How the bytes of operators travel if memory of other hosts takes part.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/error/status.h"
#include "collectives/far/far_memory.h"
#include "collectives/operators/data_moves.h"

namespace sampan::collectives {

/// For one move on one thread. Far memory is copied block by block, through a room of the host; the ranks'
/// order in a reduction stays. Blocks until the bytes are in place, or the other host does not answer.
class FarMoves {
 public:
  FarMoves(aclrtContext context, std::span<const KeyedMemoryUse> far);

  // As the functions of data_moves.h.
  Status Combine(ConstPlaces inputs, Places outputs, u64 count, Combination how) const;
  Status CopyToAll(const std::byte* source, Places places, u64 bytes) const;

 private:
  bool IsFar(const std::byte* place) const;
  /// One of both may be far.
  Status Copy(std::byte* to, const std::byte* from, u64 bytes) const;

  const std::span<const KeyedMemoryUse> far_;
  std::shared_ptr<void> scope_;
};

}  // namespace sampan::collectives
