// Keeps pages of host memory from the program, while the engines use them at other addresses.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "base/system/page_size.h"
#include "check/order/shape.h"

namespace sampan::check {

/// The whole pages around a range of addresses.
inline Range PagesAround(const Range& range) {
  const std::uint64_t page = HostPageBytes();
  return {range.begin / page * page, (range.end + page - 1) / page * page};
}

/// How much the host may do with pages.
enum class PageLevel : std::uint8_t { kAll, kRead, kNothing };

/// Changes what the program may do with pages. False if the system refuses. Async-signal-safe.
bool SetPages(const Range& addresses, PageLevel level) noexcept;

/// Moves the page table entries of shared memory to other addresses, which get the same rights. Pages without
/// entries stay: they are as they were after the next access. False if the system refuses.
/// Async-signal-safe.
bool MovePages(const Range& pages, std::uint64_t to) noexcept;

/// Whether the page at the address has an entry; also if that cannot be known. Async-signal-safe.
bool HasEntry(std::uint64_t address) noexcept;
/// The next access to each of the pages of shared memory makes its entry again. Async-signal-safe.
void EmptyEntries(const Range& pages) noexcept;

/// How many changes were made so far. Async-signal-safe.
std::uint64_t PageChanges() noexcept;

/// The pages that the calling thread opened for one instruction.
/// An instruction may access two buffers far from one another. What it opens beyond these stays open.
class StepWindow {
 public:
  void Add(const Range& pages);
  /// Ends the window.
  std::array<Range, 2> Take() { return std::exchange(ranges_, {}); }
  bool is_open() const { return ranges_[0].bytes() != 0; }

 private:
  std::array<Range, 2> ranges_{};
};
StepWindow& ThisThreadsStep() noexcept;

}  // namespace sampan::check
