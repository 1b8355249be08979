// The entries of a batch and their allocations, found again in its segments.
#pragma once

#include <cstddef>
#include <span>

#include "backend/api/allocation.h"
#include "backend/api/task.h"

namespace sampan {

/// Calls `each(segment)` for the entries of a batch as the program gave them.
template <typename Each>
void ForEntries(std::span<const Segment> segments, Each each) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Segment entry = segments[i];
    while (entry.bytes % BatchTask::kMaxSegmentBytes == 0 && i + 1 < segments.size() &&
           segments[i + 1].dst == entry.dst + entry.bytes && segments[i + 1].src == entry.src + entry.bytes) {
      entry.bytes += segments[++i].bytes;
    }
    each(entry);
  }
}

/// The allocation that an engine's address lies in, or null. Looks in `before` first: the allocation of the
/// previous entry, or null.
inline const Allocation* AllocationAt(std::span<const AllocationUse> uses, const std::byte* engine,
                                      const Allocation* before) {
  const auto contains = [engine](const Allocation& each) { return each.Contains(each.ProgramView(engine)); };
  if (before != nullptr && contains(*before)) return before;
  for (const AllocationUse& use : uses) {
    if (use && contains(*use.get())) return use.get();
  }
  return nullptr;
}

}  // namespace sampan
