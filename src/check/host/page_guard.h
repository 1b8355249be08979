// Keeps pages of host memory from the program, while the engines use them at other addresses.
#pragma once

#include <cstdint>

#include "base/system/page_size.h"
#include "check/memory/memory_table.h"

namespace sampan::check {

/// The whole pages around a range of addresses.
inline Range PagesAround(const Range& range) {
  const std::uint64_t page = HostPageBytes();
  return {range.begin / page * page, (range.end + page - 1) / page * page};
}

/// Changes what the program may do with pages. False if the system refuses. Async-signal-safe.
bool SetPages(const Range& addresses, PageLevel level) noexcept;

/// The pages that the calling thread opened for one instruction.
struct StepWindow {
  Range pages;  ///< empty: none
};
StepWindow& ThisThreadsStep() noexcept;

}  // namespace sampan::check
