// Whether the program touches a buffer between the copies that use it.
#include "check/host/touch_probe.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "check/host/page_guard.h"

namespace sampan::check {
namespace {

constexpr std::uint64_t kMinPages = 16;  // fewer are protected in a microsecond
constexpr std::uint32_t kGuardsPerQuestion = 8;
constexpr std::uint32_t kSkips = 64;  // a program that used the buffer is asked again later

void Empty(const Range& pages) {
  ::madvise(reinterpret_cast<void*>(pages.begin), pages.bytes(), MADV_DONTNEED);
}

/// True if the process's page table has the page; also if it cannot be read.
bool IsMapped(std::uint64_t address) {
  static const int file = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::uint64_t entry = 0;
  const auto offset = static_cast<off_t>(address / HostPageBytes() * sizeof entry);
  if (file < 0 || ::pread(file, &entry, sizeof entry, offset) != sizeof entry) return true;
  return entry >> 63 != 0;
}

}  // namespace

void TouchProbe::BeforeGuard(const Range& pages) noexcept {
  if (pages.bytes() < kMinPages * HostPageBytes()) return;
  if (skips_ != 0) {
    --skips_;
    return;
  }
  // A guard costs two microseconds, and so does a question: not each guard asks.
  if (emptied_.Holds(pages) && ++guards_ % kGuardsPerQuestion != 0) return;
  const int error = errno;
  const bool has_asked = probed_.bytes() != 0;
  if (has_asked && IsMapped(probed_.begin)) {
    skips_ = kSkips;
    probed_ = emptied_ = {};
  } else {
    const std::uint64_t middle = (pages.begin + pages.bytes() / 2) / HostPageBytes() * HostPageBytes();
    probed_ = {middle, middle + HostPageBytes()};
    Empty(has_asked ? pages : probed_);
    if (has_asked)
      emptied_ = emptied_.Touches(pages) || emptied_.end == pages.begin
                     ? Range{std::min(emptied_.begin, pages.begin), std::max(emptied_.end, pages.end)}
                     : pages;
  }
  errno = error;
}

}  // namespace sampan::check
