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

/// What a run may be.
struct RunLimits {
  std::size_t min_bytes;
  std::size_t max_segment;  ///< no segment of a run is longer
  /// Sorted. No run goes on where another allocation begins: for the driver, neighbours are separate.
  std::span<const std::byte* const> host_begins = {};
};

inline void FindDenseRuns(std::span<const Segment> segments, Direction direction, const RunLimits& limits,
                          DenseRuns& found) {
  const bool to_host = direction == Direction::kDeviceToHost;
  const auto on_host = [&](const Segment& segment) -> const std::byte* {
    return to_host ? segment.dst : segment.src;
  };
  const auto goes_on = [&](const Segment& segment, const std::byte* end) {
    return on_host(segment) == end && segment.bytes <= limits.max_segment &&
           !std::binary_search(limits.host_begins.begin(), limits.host_begins.end(), end);
  };
  found.runs.clear();
  found.others.clear();
  found.run_bytes = 0;
  for (std::size_t i = 0; i < segments.size();) {
    SegmentRange run{i, 1, segments[i].bytes};
    const bool fits = segments[i].bytes <= limits.max_segment;
    const std::byte* end = on_host(segments[i]) + segments[i].bytes;
    for (++i; fits && i < segments.size() && goes_on(segments[i], end); ++i) {
      ++run.count;
      run.bytes += segments[i].bytes;
      end += segments[i].bytes;
    }
    if (fits && run.bytes >= limits.min_bytes) {
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

/// The sizes of parts. Each one is `growth` times as long as its neighbour, from the shortest on.
struct DensePartSizes {
  std::size_t shortest, longest;
  std::size_t growth = 4;  ///< a part is gathered sooner than its neighbour is copied over the link
};

/// Cuts the runs into parts, at the ends of segments. From the device, the first part is the shortest: the
/// engine waits until it is gathered. To the device, the last part is: nothing is copied while it is
/// scattered.
inline void CutDenseRuns(std::span<const Segment> segments, std::span<const SegmentRange> runs,
                         Direction direction, const DensePartSizes& sizes, std::vector<SegmentRange>& parts) {
  parts.clear();
  const bool backwards = direction == Direction::kHostToDevice;
  std::size_t capacity = sizes.shortest;
  const auto grow = [&] { capacity = std::min(capacity * sizes.growth, sizes.longest); };
  const auto cut = [&](const SegmentRange& run) {
    SegmentRange part{backwards ? run.first + run.count : run.first, 0, 0};
    for (std::size_t i = 0; i < run.count; ++i) {
      const std::size_t at = backwards ? run.first + run.count - 1 - i : run.first + i;
      const std::size_t bytes = segments[at].bytes;
      if (part.count != 0 && part.bytes + bytes > capacity) {
        parts.push_back(part);
        grow();
        part = {at + (backwards ? 1 : 0), 0, 0};
      }
      if (backwards) part.first = at;
      ++part.count;
      part.bytes += bytes;
    }
    parts.push_back(part);
    grow();
  };
  if (!backwards) {
    std::for_each(runs.begin(), runs.end(), cut);
  } else {
    std::for_each(runs.rbegin(), runs.rend(), cut);
    std::reverse(parts.begin(), parts.end());
  }
}

}  // namespace sampan::cuda
