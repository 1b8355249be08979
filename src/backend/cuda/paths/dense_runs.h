// Entries of a batch that are adjacent on the host, and the parts in which they go over the link.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "backend/api/copy_segment.h"
#include "backend/api/direction.h"

namespace sampan::cuda {

/// Segments that follow one another in the list.
struct SegmentRange {
  std::size_t first, count, bytes;
};

/// The segments of a batch: runs that are adjacent on the host, and the ranges between them.
struct DenseRuns {
  std::vector<SegmentRange> runs, others;
  std::size_t run_bytes = 0;  ///< of all runs
};

/// Finds the runs of at least `min_bytes`. No segment of a run is longer than `max_segment`.
inline void FindDenseRuns(std::span<const Segment> segments, Direction direction, std::size_t min_bytes,
                          std::size_t max_segment, DenseRuns& found) {
  const bool to_host = direction == Direction::kDeviceToHost;
  const auto on_host = [&](const Segment& segment) -> const std::byte* {
    return to_host ? segment.dst : segment.src;
  };
  found.runs.clear();
  found.others.clear();
  found.run_bytes = 0;
  for (std::size_t i = 0; i < segments.size();) {
    SegmentRange run{i, 1, segments[i].bytes};
    bool fits = segments[i].bytes <= max_segment;
    const std::byte* end = on_host(segments[i]) + segments[i].bytes;
    for (++i; fits && i < segments.size() && on_host(segments[i]) == end; ++i) {
      if (segments[i].bytes > max_segment) break;
      ++run.count;
      run.bytes += segments[i].bytes;
      end += segments[i].bytes;
    }
    if (fits && run.bytes >= min_bytes) {
      found.runs.push_back(run);
      found.run_bytes += run.bytes;
    } else if (!found.others.empty() && found.others.back().first + found.others.back().count == run.first) {
      found.others.back().count += run.count;
      found.others.back().bytes += run.bytes;
    } else {
      found.others.push_back(run);
    }
  }
}

/// The sizes of parts: the short one lets the engine begin soon, or the last kernel end soon.
struct DensePartSizes {
  std::size_t shortest, longest;
};

/// Cuts the runs into parts, at the ends of segments. From the device, the first part is the short one: the
/// engine waits until it is gathered. To the device, the last part is: nothing is copied while it is
/// scattered.
inline void CutDenseRuns(std::span<const Segment> segments, std::span<const SegmentRange> runs,
                         Direction direction, const DensePartSizes& sizes, std::vector<SegmentRange>& parts) {
  parts.clear();
  const bool backwards = direction == Direction::kHostToDevice;
  std::size_t capacity = sizes.shortest;
  const auto cut = [&](const SegmentRange& run) {
    SegmentRange part{backwards ? run.first + run.count : run.first, 0, 0};
    for (std::size_t i = 0; i < run.count; ++i) {
      const std::size_t at = backwards ? run.first + run.count - 1 - i : run.first + i;
      const std::size_t bytes = segments[at].bytes;
      if (part.count != 0 && part.bytes + bytes > capacity) {
        parts.push_back(part);
        capacity = sizes.longest;
        part = {at + (backwards ? 1 : 0), 0, 0};
      }
      if (backwards) part.first = at;
      ++part.count;
      part.bytes += bytes;
    }
    parts.push_back(part);
    capacity = sizes.longest;
  };
  if (!backwards) {
    std::for_each(runs.begin(), runs.end(), cut);
  } else {
    std::for_each(runs.rbegin(), runs.rend(), cut);
    std::reverse(parts.begin(), parts.end());
  }
}

}  // namespace sampan::cuda
