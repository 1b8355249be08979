// Keeps pages of host memory from the program, while the engines use them at other addresses.
#include "check/host/page_guard.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace sampan::check {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local StepWindow step_window;
constinit std::atomic<std::uint64_t> changes{0};

}  // namespace

bool SetPages(const Range& addresses, PageLevel level) noexcept {
  const int error = errno;
  const int access = level == PageLevel::kAll    ? PROT_READ | PROT_WRITE
                     : level == PageLevel::kRead ? PROT_READ
                                                 : PROT_NONE;
  const Range pages = PagesAround(addresses);
  const bool changed = ::mprotect(reinterpret_cast<void*>(pages.begin), pages.bytes(), access) == 0;
  errno = error;
  if (changed) changes.fetch_add(1, std::memory_order_relaxed);
  return changed;
}

bool MovePages(const Range& pages, std::uint64_t to) noexcept {
  const int error = errno;
  const bool moved =
      ::mremap(reinterpret_cast<void*>(pages.begin), pages.bytes(), pages.bytes(),
               MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, reinterpret_cast<void*>(to)) != MAP_FAILED;
  errno = error;
  if (moved) changes.fetch_add(1, std::memory_order_relaxed);
  return moved;
}

bool HasEntry(std::uint64_t address) noexcept {
  const int error = errno;
  // It is asked rarely, and the program may close a descriptor that stays.
  const int file = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::uint64_t entry = 0;
  const auto offset = static_cast<off_t>(address / HostPageBytes() * sizeof entry);
  const bool is_known = file >= 0 && ::pread(file, &entry, sizeof entry, offset) == sizeof entry;
  if (file >= 0) ::close(file);
  errno = error;
  return !is_known || entry >> 63 != 0;
}

void EmptyEntries(const Range& pages) noexcept {
  const int error = errno;
  ::madvise(reinterpret_cast<void*>(pages.begin), pages.bytes(), MADV_DONTNEED);
  errno = error;
}

std::uint64_t PageChanges() noexcept {
  return changes.load(std::memory_order_relaxed);
}

void StepWindow::Add(const Range& pages) {
  for (Range& range : ranges_) {
    const bool is_free = range.bytes() == 0;
    if (!is_free && (pages.begin > range.end || range.begin > pages.end)) continue;
    range = is_free ? pages : Range{std::min(range.begin, pages.begin), std::max(range.end, pages.end)};
    return;
  }
}

StepWindow& ThisThreadsStep() noexcept {
  return step_window;
}

}  // namespace sampan::check
