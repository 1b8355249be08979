// Runs of a batch's entries that are alike: checked and described many at a time, without a branch for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/api/copy_segment.h"

namespace sampan {

/// An allocation as entries are held against it. Empty: nothing fits.
struct KnownRange {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::ptrdiff_t engine_delta = 0;
};

/// Entries of a batch, each side's in one allocation if it is well. The arrays are equally long.
struct EntryRun {
  std::span<void* const> dsts;
  std::span<void* const> srcs;
  std::span<const std::size_t> sizes;
  KnownRange dst, src;
};

struct RunTotals {
  std::size_t entries = 0;
  std::size_t bytes = 0;
  std::size_t longest = 0;  ///< at least the longest, and less than twice that
};

/// The instructions that are used.
enum class BatchRunLevel { kPlain, kAvx2 };
/// The fastest that this processor has.
BatchRunLevel FastestBatchRunLevel() noexcept;

/// Writes the segments of the first entries that lie in their allocations and need one segment each.
/// `segments` has room for all. Segments behind the returned count are undefined.
RunTotals WriteSegments(const EntryRun& run, Segment* segments, BatchRunLevel level = FastestBatchRunLevel());

/// Returns true if every size is at most its limit. May return false for numbers of 2^63 and more. The arrays
/// have equal lengths.
bool SizesFit(std::span<const std::size_t> sizes, std::span<const std::size_t> limits,
              BatchRunLevel level = FastestBatchRunLevel());

}  // namespace sampan
