// Reserved addresses of the emulated devices. Each reservation has two ranges: for the program and for the
// engines.
#include "backend/emulated/memory/view_ranges.h"

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/containers/round.h"
#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/system/page_size.h"
#include "base/system/vacate.h"

namespace sampan::emulated {
namespace {

void* At(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

Status OutOfAddresses(std::size_t bytes) {
  return {Code::kMemoryAllocation,
          Text("the host has no ", bytes, " bytes of addresses left: ", SystemError(errno))};
}

/// Reserves addresses without memory, which fault. Returns 0 on failure. `wish` is a hint to the system.
std::uintptr_t ReserveView(std::size_t bytes, std::uintptr_t wish) {
  constexpr std::size_t kUnit = VirtualMemory::kGranularity;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (wish != 0 && wish % kUnit == 0) {
    void* const there = ::mmap(At(wish), bytes, PROT_NONE, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
    if (there == At(wish)) return wish;
    if (there != MAP_FAILED) ::munmap(there, bytes);  // old kernels treat the flag as a hint
  }
  void* const reserved = ::mmap(nullptr, bytes + kUnit, PROT_NONE, kFlags, -1, 0);
  if (reserved == MAP_FAILED) return 0;
  const auto start = reinterpret_cast<std::uintptr_t>(reserved);
  const std::uintptr_t aligned = RoundUp(start, kUnit);
  if (aligned > start) ::munmap(reserved, aligned - start);
  if (start + kUnit > aligned) ::munmap(At(aligned + bytes), start + kUnit - aligned);
  return aligned;
}

/// Maps the file at the address, or anywhere if that is 0. Returns 0 on failure.
std::uintptr_t MapView(std::uintptr_t address, const MemoryFile& file, int access) {
  const int fixed = address != 0 ? MAP_FIXED : 0;
  void* const mapped = ::mmap(At(address), file.bytes, access, MAP_SHARED | MAP_NORESERVE | fixed,
                              file.descriptor, static_cast<off_t>(file.offset));
  if (mapped == MAP_FAILED) return 0;
  ::madvise(mapped, file.bytes, MADV_DONTDUMP);
  ::madvise(mapped, file.bytes, MADV_DONTFORK);
  return reinterpret_cast<std::uintptr_t>(mapped);
}

int UserAccess(const MemoryFile& file) {
  return file.host_visible ? PROT_READ | PROT_WRITE : PROT_NONE;
}
constexpr int kEngineAccess = PROT_READ | PROT_WRITE;

std::uintptr_t EngineView(const AddressRange& range) {
  return range.address + static_cast<std::uintptr_t>(range.engine_delta);
}

std::ptrdiff_t Delta(std::uintptr_t user, std::uintptr_t engine) {
  return static_cast<std::ptrdiff_t>(engine - user);
}

/// Extends a range to whole pages of the host.
AddressRange WholePages(const AddressRange& range) {
  const std::uintptr_t first = RoundDown(range.address, HostPageBytes());
  return {first, RoundUp(range.address + range.bytes, HostPageBytes()) - first, range.engine_delta};
}

}  // namespace

Result<AddressRange> ViewRanges::Keep(const AddressRange& range) {
  try {
    const std::lock_guard lock(mutex_);
    owned_.emplace(range.address, range.bytes);
  } catch (...) {
    ::munmap(At(range.address), range.bytes);
    ::munmap(At(EngineView(range)), range.bytes);
    throw;
  }
  return range;
}

Result<AddressRange> ViewRanges::Reserve(std::size_t bytes, std::uintptr_t wish) {
  const std::uintptr_t user = ReserveView(bytes, wish);
  if (user == 0) return OutOfAddresses(bytes);
  const std::uintptr_t engine = ReserveView(bytes, 0);
  if (engine == 0) {
    Status failure = OutOfAddresses(bytes);
    ::munmap(At(user), bytes);
    return failure;
  }
  return Keep({user, bytes, Delta(user, engine)});
}

void ViewRanges::Release(const AddressRange& range) noexcept {
  ::munmap(At(EngineView(range)), range.bytes);
  Drop(range);
}

void ViewRanges::Drop(const AddressRange& range) noexcept {
  {
    const std::lock_guard lock(mutex_);
    owned_.erase(range.address);
  }
  ::munmap(At(range.address), range.bytes);
}

Status ViewRanges::Map(const AddressRange& part, const MemoryFile& file, MapAccess) {
  if (MapView(part.address, file, UserAccess(file)) != 0 &&
      MapView(EngineView(part), file, kEngineAccess) != 0)
    return {};
  Status failure(Code::kMemoryAllocation,
                 Text("the host cannot map ", file.bytes, " bytes: ", SystemError(errno)));
  Unmap(part);
  return failure;
}

void ViewRanges::Unmap(const AddressRange& part) noexcept {
  for (const std::uintptr_t view : {part.address, EngineView(part)}) {
    Vacate(At(view), part.bytes);
  }
}

Result<AddressRange> ViewRanges::MapAnywhere(const MemoryFile& file) {
  MemoryFile pages = file;
  pages.offset = RoundDown(file.offset, HostPageBytes());
  pages.bytes = RoundUp(file.offset + file.bytes, HostPageBytes()) - pages.offset;
  const std::uintptr_t user = MapView(0, pages, UserAccess(file));
  const std::uintptr_t engine = user == 0 ? 0 : MapView(0, pages, kEngineAccess);
  if (engine == 0) {
    Status failure(Code::kMemoryAllocation,
                   Text("the host cannot map ", file.bytes, " bytes: ", SystemError(errno)));
    if (user != 0) ::munmap(At(user), pages.bytes);
    return failure;
  }
  auto kept = Keep({user, pages.bytes, Delta(user, engine)});
  return AddressRange{user + (file.offset - pages.offset), file.bytes, kept->engine_delta};
}

void ViewRanges::UnmapAnywhere(const AddressRange& range) noexcept {
  const AddressRange pages = WholePages(range);
  ::munmap(At(EngineView(pages)), pages.bytes);
  Vacate(At(pages.address), pages.bytes);
  AddressRange oldest;
  {
    const std::lock_guard lock(mutex_);
    oldest = std::exchange(kept_back_[next_kept_++ % kKeptBack], pages);
  }
  if (oldest.bytes != 0) Drop(oldest);
}

bool ViewRanges::Owns(std::uintptr_t address) const {
  const std::shared_lock lock(mutex_);
  const auto behind = owned_.upper_bound(address);
  if (behind == owned_.begin()) return false;
  const auto& [start, bytes] = *std::prev(behind);
  return address - start < bytes;
}

}  // namespace sampan::emulated
