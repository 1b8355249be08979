// The limit of host memory that the memory files of all emulated devices may take, counted when they are
// written.
#include "backend/emulated/memory/write_budget.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/containers/round.h"
#include "base/error/text.h"
#include "base/system/memory_file.h"
#include "base/system/page_size.h"

namespace sampan::emulated {

void WriteBudget::Promise(std::size_t bytes) {
  const std::size_t before = promised_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  const std::size_t unseen = limit_bytes_ / kUnseenPart;
  // What was written until now was not counted: the next write looks at the files.
  if (before <= unseen && before + bytes > unseen) left_bytes_.store(0, std::memory_order_relaxed);
}

void WriteBudget::Watch(int memory_file, std::uintptr_t view, std::size_t view_bytes) {
  const std::lock_guard lock(mutex_);
  files_.push_back({memory_file, view, view_bytes});
}

std::size_t WriteBudget::TakenByAll() const {
  std::size_t taken = 0;
  for (const WatchedFile& file : files_)
    taken += TakenBytes(file.memory_file);
  return taken;
}

Status WriteBudget::Look(std::size_t bound_bytes, const std::function<std::size_t()>& missing) {
  const std::size_t of_host = spare_();  // before the lock: it may take another one
  const std::lock_guard lock(mutex_);
  const std::size_t taken = TakenByAll();
  const std::size_t of_limit = limit_bytes_ - std::min(taken, limit_bytes_);
  const std::size_t left = std::min(of_limit, of_host);
  const std::size_t wanted = bound_bytes <= left ? bound_bytes : missing();
  if (wanted > left) {
    left_bytes_.store(0, std::memory_order_relaxed);
    const std::string why =
        wanted > of_limit
            ? Text("they have taken ", taken, " of ", limit_bytes_, " bytes (SAMPAN_HOST_MEMORY)")
            : Text("it can spare only ", of_host, " bytes now: end programs that use its memory");
    return {Code::kMemoryAllocation,
            Text("the host has no memory for ", wanted, " new bytes of emulated devices: ", why)};
  }
  const std::size_t granted = std::min(of_limit - wanted, (of_host - wanted) / kUnseenPart);
  left_bytes_.store(static_cast<std::int64_t>(granted), std::memory_order_relaxed);
  return {};
}

namespace {

/// Bytes of holes in [begin, end) of a memory file. A page in swap is no hole.
std::size_t HolesIn(int memory_file, std::size_t begin, std::size_t end) {
  std::size_t holes = 0;
  while (begin < end) {
    const off_t hole = ::lseek(memory_file, static_cast<off_t>(begin), SEEK_HOLE);
    if (hole < 0 || static_cast<std::size_t>(hole) >= end) break;
    const off_t data = ::lseek(memory_file, hole, SEEK_DATA);  // fails if nothing follows
    const std::size_t hole_end = data < 0 ? end : std::min(end, static_cast<std::size_t>(data));
    holes += hole_end - static_cast<std::size_t>(hole);
    begin = hole_end;
  }
  return holes;
}

/// For a view that is not watched. A page in swap looks missing.
std::size_t AbsentBytes(std::uintptr_t first, std::uintptr_t end) {
  constexpr std::size_t kPagesAtOnce = 16384;
  const std::size_t page_bytes = HostPageBytes();
  std::array<unsigned char, kPagesAtOnce> pages;
  std::size_t missing = 0;
  for (std::uintptr_t begin = first; begin < end; begin += kPagesAtOnce * page_bytes) {
    const std::size_t length = std::min(end - begin, kPagesAtOnce * page_bytes);
    const std::size_t count = length / page_bytes;
    if (::mincore(reinterpret_cast<void*>(begin), length, pages.data()) != 0) {
      missing += length;  // not mapped as a whole: the write itself will tell
      continue;
    }
    missing += page_bytes * static_cast<std::size_t>(std::count_if(
                                pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(count),
                                [](unsigned char page) { return (page & 1) == 0; }));
  }
  return missing;
}

}  // namespace

std::size_t WriteBudget::MissingBytes(const void* address, std::size_t bytes) const {
  const std::size_t page_bytes = HostPageBytes();
  const auto first = RoundDown(reinterpret_cast<std::uintptr_t>(address), page_bytes);
  const std::uintptr_t end = RoundUp(reinterpret_cast<std::uintptr_t>(address) + bytes, page_bytes);
  for (const WatchedFile& file : files_) {
    if (first >= file.view && end - file.view <= file.view_bytes)
      return HolesIn(file.memory_file, first - file.view, end - file.view);
  }
  return AbsentBytes(first, end);
}

}  // namespace sampan::emulated
