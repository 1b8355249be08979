// Keeps pages of host memory from the program, while the engines use them at other addresses.
#include "check/host/page_guard.h"

#include <sys/mman.h>

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

std::uint64_t PageChanges() noexcept {
  return changes.load(std::memory_order_relaxed);
}

void StepWindow::Add(const Range& pages) {
  for (Range& range : ranges_) {
    const bool is_free = range.bytes() == 0;
    const bool meets = pages.begin <= range.end && range.begin <= pages.end;
    if (!is_free && !meets && &range != &ranges_.back()) continue;
    range = is_free ? pages : Range{std::min(range.begin, pages.begin), std::max(range.end, pages.end)};
    return;
  }
}

StepWindow& ThisThreadsStep() noexcept {
  return step_window;
}

}  // namespace sampan::check
