// Keeps pages of host memory from the program, while the engines use them at other addresses.
#pragma once

#include <cstdint>

#include "check/memory_table.h"

namespace sampan::check {

inline constexpr std::uint64_t kGuardPageBytes = 4096;

/// The whole pages around a range of addresses.
inline Range PagesAround(const Range& range) {
  return {range.begin / kGuardPageBytes * kGuardPageBytes,
          (range.end + kGuardPageBytes - 1) / kGuardPageBytes * kGuardPageBytes};
}

/// Changes what the program may do with pages. False if the system refuses. Async-signal-safe.
bool SetPages(const Range& addresses, PageLevel level) noexcept;

/// The pages that the calling thread opened for one instruction.
struct StepWindow {
  Range pages;  ///< empty: none
};
StepWindow& ThisThreadsStep() noexcept;

}  // namespace sampan::check
