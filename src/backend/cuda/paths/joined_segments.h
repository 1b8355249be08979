// Joins segments that are adjacent at both ends. An engine copies them as one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backend/api/copy_segment.h"

namespace sampan::cuda {

/// Joins each segment with the previous one if both ends are adjacent. All segments (at least one) are
/// between two allocations. Returns false as soon as more than `max_joined` would be left.
inline bool JoinUpTo(std::span<const Segment> segments, std::size_t max_joined,
                     std::vector<Segment>& joined) {
  joined.assign(1, segments.front());
  for (const Segment& next : segments.subspan(1)) {
    Segment& last = joined.back();
    if (next.dst == last.dst + last.bytes && next.src == last.src + last.bytes) {
      last.bytes += next.bytes;
    } else if (joined.size() < max_joined) {
      joined.push_back(next);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace sampan::cuda
