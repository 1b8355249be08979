// How the bytes of collectives travel: reductions in one pass, and copies to several places.
#pragma once

#include <cstddef>
#include <span>

#include "base/reduce/reduce_types.h"
#include "hccl/base.h"

namespace sampan::collectives {

using ConstPlaces = std::span<const std::byte* const>;
using Places = std::span<std::byte* const>;

/// From this many bytes on, outputs are written past the caches.
inline constexpr u64 kPastCachesFromBytes = u64{8} << 20;

struct Combination {
  ReduceElement element;
  ReduceOperation operation;
};

/// Combines `count` elements of all inputs, in their order, and stores the result in all outputs. Reads each
/// byte once and writes each byte once. An output may be an input.
void Combine(ConstPlaces inputs, Places outputs, u64 count, Combination how, bool past_caches);

/// Copies the bytes to all places. A place that is the source itself is left alone.
void CopyToAll(const std::byte* source, Places places, u64 bytes, bool past_caches);

/// The elements [begin, end) of a rank, if each of `size` ranks takes an equal part in whole cache lines.
struct Share {
  u64 begin, end;
};
Share ShareOf(u64 count, u64 element_bytes, u32 rank, u32 size);

}  // namespace sampan::collectives
