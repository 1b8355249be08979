// Checks runs of similar batch entries and writes their segments, many at a time and without a branch for
// each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/api/allocation.h"
#include "backend/api/copy_segment.h"
#include "backend/api/task.h"
#include "base/error/status.h"

namespace sampan::core {

/// The address range of an allocation. If it is empty, no entry fits.
struct KnownRange {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::ptrdiff_t engine_delta = 0;

  /// Sets the highest bit of `beyond` if [begin, +size) leaves the range; for sizes below 2^62. For a word,
  /// or for several side by side.
  template <typename Words>
  [[gnu::always_inline]] void Check(const Words& begin, const Words& size, Words& beyond) const {
    const Words offset = begin - address;
    const Words end = offset + size;
    beyond |= offset | end | (bytes - end);
  }
};

/// Entries of a batch that are expected in one allocation on each side. The arrays have equal lengths.
struct EntryRun {
  std::span<void* const> dsts;
  std::span<void* const> srcs;
  std::span<const std::size_t> sizes;
  KnownRange dst, src;

  /// True if the entry lies in its allocations and needs one segment: none of many numbers is negative.
  bool Fits(std::size_t entry) const {
    const std::size_t size = sizes[entry];
    std::uint64_t beyond = (size - 1) | (BatchTask::kMaxSegmentBytes - size);
    dst.Check(reinterpret_cast<std::uintptr_t>(dsts[entry]), size, beyond);
    src.Check(reinterpret_cast<std::uintptr_t>(srcs[entry]), size, beyond);
    return beyond >> 63 == 0;
  }
};

struct RunTotals {
  std::size_t entries = 0;
  std::size_t bytes = 0;
  std::size_t longest = 0;  ///< an upper bound of the longest entry, less than twice it
};

/// The instruction set to use.
enum class BatchRunLevel { kPlain, kAvx2 };
/// The fastest level that this processor supports.
BatchRunLevel FastestBatchRunLevel() noexcept;
/// How many entries one step handles.
inline constexpr std::size_t kManyEntries = 16;

/// Goes on with the entries behind those that the totals count, up to one that does not fit.
[[gnu::always_inline]] inline RunTotals WriteSegmentsOneByOne(EntryRun run, Segment* segments,
                                                              RunTotals totals) {
  std::size_t done = totals.entries;
  for (; done < run.sizes.size() && run.Fits(done); ++done) {
    const std::size_t size = run.sizes[done];
    segments[done] = {static_cast<std::byte*>(run.dsts[done]) + run.dst.engine_delta,
                      static_cast<const std::byte*>(run.srcs[done]) + run.src.engine_delta, size};
    totals.bytes += size;
    totals.longest = std::max(totals.longest, size);
  }
  totals.entries = done;
  return totals;
}

/// Writes the segments of the first entries that lie in their allocations and need one segment each.
/// `segments` has room for all. Segments behind the returned count are undefined.
RunTotals WriteManySegments(EntryRun run, Segment* segments, BatchRunLevel level = FastestBatchRunLevel());
[[gnu::always_inline]] inline RunTotals WriteSegments(EntryRun run, Segment* segments) {
  return run.sizes.size() < kManyEntries ? WriteSegmentsOneByOne(run, segments, {})
                                         : WriteManySegments(run, segments);
}

/// Appends an entry that is cut into several segments.
[[gnu::noinline]] Status AppendCut(const Segment& entry, std::size_t entries_behind, BatchTask& batch);
/// Adds an entry of any length, of which no segment is longer than kMaxSegmentBytes. Keeps room for a segment
/// each of the entries behind it.
inline Status AppendEntry(const Segment& entry, std::size_t entries_behind, BatchTask& batch) {
  batch.bytes += entry.bytes;
  batch.longest = std::max(batch.longest, std::min(BatchTask::kMaxSegmentBytes, entry.bytes));
  if (entry.bytes > BatchTask::kMaxSegmentBytes) [[unlikely]]
    return AppendCut(entry, entries_behind, batch);
  batch.segments.Append(entry);
  return {};
}

/// Returns true if every size is at most its limit. May return false for numbers of 2^63 and more. The arrays
/// have equal lengths.
bool ManySizesFit(std::span<const std::size_t> sizes, std::span<const std::size_t> limits,
                  BatchRunLevel level = FastestBatchRunLevel());
inline bool SizesFit(std::span<const std::size_t> sizes, std::span<const std::size_t> limits) {
  if (sizes.size() >= kManyEntries) return ManySizesFit(sizes, limits);
  bool fit = true;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    fit &= sizes[i] <= limits[i];
  return fit;
}

}  // namespace sampan::core
