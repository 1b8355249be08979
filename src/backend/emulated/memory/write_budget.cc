// The limit of host memory that the memory files of all emulated devices may take, counted when they are
// written.
#include "backend/emulated/memory/write_budget.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/containers/round.h"
#include "base/error/text.h"
#include "base/system/page_size.h"

namespace sampan::emulated {

void WriteBudget::Promise(std::size_t bytes) {
  const std::size_t before = promised_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  // What was written until now was not counted: the next write looks at the files.
  if (before <= limit_bytes_ && before + bytes > limit_bytes_)
    left_bytes_.store(0, std::memory_order_relaxed);
}

void WriteBudget::Watch(int memory_file) {
  const std::lock_guard lock(mutex_);
  memory_files_.push_back(memory_file);
}

std::size_t WriteBudget::TakenBytes() const {
  constexpr std::size_t kBlockBytes = 512;  // of st_blocks, whatever the file system
  std::size_t taken = 0;
  for (const int file : memory_files_) {
    struct stat status {};
    if (::fstat(file, &status) == 0) taken += static_cast<std::size_t>(status.st_blocks) * kBlockBytes;
  }
  return taken;
}

Status WriteBudget::Admit(std::size_t bound_bytes, const std::function<std::size_t()>& missing) {
  const auto bound = static_cast<std::int64_t>(bound_bytes);
  if (left_bytes_.fetch_sub(bound, std::memory_order_relaxed) >= bound) return {};
  const std::lock_guard lock(mutex_);
  const std::size_t taken = TakenBytes();
  const std::size_t left = limit_bytes_ - std::min(taken, limit_bytes_);
  const std::size_t wanted = bound_bytes <= left ? bound_bytes : missing();
  if (wanted > left) {
    left_bytes_.store(0, std::memory_order_relaxed);
    return {Code::kMemoryAllocation,
            Text("the host has no memory for ", wanted, " new bytes of emulated devices: they have taken ",
                 taken, " of ", limit_bytes_, " bytes (SAMPAN_HOST_MEMORY)")};
  }
  left_bytes_.store(static_cast<std::int64_t>(left - wanted), std::memory_order_relaxed);
  return {};
}

std::size_t MissingBytes(const void* address, std::size_t bytes) {
  constexpr std::size_t kPagesAtOnce = 16384;
  const std::size_t page_bytes = HostPageBytes();
  std::array<unsigned char, kPagesAtOnce> pages;
  const auto first = reinterpret_cast<std::uintptr_t>(address) / page_bytes * page_bytes;
  const std::uintptr_t end = RoundUp(reinterpret_cast<std::uintptr_t>(address) + bytes, page_bytes);
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

}  // namespace sampan::emulated
