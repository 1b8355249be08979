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
  std::span<void*const> dsts, srcs;
  std::span<const std::size_t> sizes;
  KnownRange dst, src;
};

struct RunTotals {
  std::size_t entries = 0;
  std::size_t bytes = 0;
  std::size_t longest = 0;  ///< no entry is longer; one may be nearly half as long
};

/// The instructions that are used.
enum class RunLevel { kPlain, kAvx2 };
/// The fastest that this processor has.
RunLevel FastestRunLevel() noexcept;

/// Describes entries from the first on, for as long as they lie in their allocations and need one segment
/// each; there is room for all. What lies behind those is written too.
RunTotals DescribeRun(const EntryRun& run, Segment* segments, RunLevel level = FastestRunLevel());

/// Whether every size is within its limit. False also where a number has its highest bit; those are to be
/// looked at again. The arrays are equally long.
bool SurelyWithin(std::span<const std::size_t> sizes, std::span<const std::size_t> limits,
                  RunLevel level = FastestRunLevel());

}  // namespace sampan
