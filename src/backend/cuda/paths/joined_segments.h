// Segments that continue one another at both ends: an engine copies them as one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backend/api/copy_segment.h"

namespace sampan::cuda {

/// The segments, at least one, with those joined that continue the one before; all between two allocations.
/// False where that are more than `most`, as soon as it is known.
inline bool JoinUpTo(std::span<const Segment> segments, std::size_t most, std::vector<Segment>& joined) {
  joined.assign(1, segments.front());
  for (const Segment& next : segments.subspan(1)) {
    Segment& last = joined.back();
    if (next.dst == last.dst + last.bytes && next.src == last.src + last.bytes) {
      last.bytes += next.bytes;
    } else if (joined.size() < most) {
      joined.push_back(next);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace sampan::cuda
