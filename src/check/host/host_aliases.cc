// Second addresses of registered memory, which the engines use under check.
#include "check/host/host_aliases.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <exception>
#include <mutex>
#include <utility>

#include "base/system/descriptor.h"
#include "base/system/memory_file.h"
#include "check/host/mappings.h"
#include "check/host/page_guard.h"

namespace sampan::check {
namespace {

/// The aliases lie at one distance from all memory, so that neighbours of the program are neighbours for the
/// engines. Programs and libraries lie above it (x86-64: heaps from 0x55.., mappings from 0x7f..).
constexpr std::uintptr_t kDistance = std::uintptr_t{1} << 46;

void* At(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

/// The pages whose bytes are on their way. A thread that writes them faults, and waits for the end. Meanwhile
/// nothing is allocated: such a thread may hold the allocator's lock.
struct Moving {
  explicit Moving(const Range& pages) {
    moving_end.store(pages.end);
    moving_begin.store(pages.begin);
    ::mprotect(At(pages.begin), pages.bytes(), PROT_READ);
  }
  ~Moving() { moving_begin.store(~std::uintptr_t{0}); }
  Moving(const Moving&) = delete;
  Moving& operator=(const Moving&) = delete;

  static constinit inline std::atomic<std::uintptr_t> moving_begin{~std::uintptr_t{0}}, moving_end{0};
};

/// Pages move in parts, so that the memory is needed twice for one part alone.
constexpr std::uint64_t kPartBytes = std::uint64_t{16} << 20;

/// Calls `move(part)` for the parts of the pages, until it returns false. Returns where it ended.
template <typename Move>
std::uint64_t ForParts(const Range& pages, Move move) {
  std::uint64_t at = pages.begin;
  while (at < pages.end && move(Range{at, std::min(at + kPartBytes, pages.end)}))
    at = std::min(at + kPartBytes, pages.end);
  return at;
}

/// Pages of zeros are left out: the new memory has zeros, and needs no room for them.
void CopyPages(std::uintptr_t to, const Range& pages) {
  const std::uint64_t page_bytes = HostPageBytes();
  for (std::uint64_t at = pages.begin; at < pages.end; at += page_bytes) {
    const auto* const bytes = static_cast<const std::byte*>(At(at));
    const bool is_zero = bytes[0] == std::byte{0} && std::memcmp(bytes, bytes + 1, page_bytes - 1) == 0;
    if (!is_zero) std::memcpy(At(to + (at - pages.begin)), bytes, page_bytes);
  }
}

/// The bytes of private pages go to the file, which then lies at their addresses. Returns where that ended.
std::uint64_t MoveToFile(const Range& pages, int file, std::uint64_t offset) {
  void* const alias = ::mmap(At(pages.begin - kDistance), pages.bytes(), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset));
  if (alias == MAP_FAILED) return pages.begin;
  return ForParts(pages, [&](const Range& part) {
    const Moving moving(part);
    CopyPages(part.begin - kDistance, part);
    const auto at = static_cast<off_t>(offset + (part.begin - pages.begin));
    if (::mmap(At(part.begin), part.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, at) !=
        MAP_FAILED)
      return true;
    ::mprotect(At(part.begin), part.bytes(), PROT_READ | PROT_WRITE);
    return false;
  });
}

/// Private pages with the bytes of the alias take the place of the program's. Without memory they stay
/// shared.
void MoveBack(const Range& pages) noexcept {
  ForParts(pages, [](const Range& part) {
    void* const own =
        ::mmap(nullptr, part.bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED) return false;
    const Moving moving(part);
    CopyPages(reinterpret_cast<std::uintptr_t>(own), {part.begin - kDistance, part.end - kDistance});
    if (::mremap(own, part.bytes(), part.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, At(part.begin)) !=
        MAP_FAILED)
      return true;
    ::mprotect(At(part.begin), part.bytes(), PROT_READ | PROT_WRITE);
    return false;
  });
}

}  // namespace

bool HostAliases::WaitForMove(std::uintptr_t address) noexcept {
  bool waited = false;
  const auto moves = [address] {
    return address >= Moving::moving_begin.load() && address < Moving::moving_end.load();
  };
  for (; moves(); waited = true) {
    constexpr timespec kShort{0, 20'000};
    ::nanosleep(&kShort, nullptr);
  }
  return waited;
}

bool HostAliases::Make(const Range& pages, Alias& alias) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::vector<Mapping> mappings = MappingsIn(pages);
  std::uint64_t end = pages.begin;
  for (const Mapping& mapping : mappings) {
    const bool fits = mapping.writable && (mapping.shared || mapping.anonymous);
    if (!fits || mapping.range.begin != end) return false;
    end = mapping.range.end;
  }
  // The calling thread could not run while its stack moves.
  if (end != pages.end || pages.Touches({here - HostPageBytes(), here + 1})) return false;

  auto memory = CreateMemoryFile("sampan registered memory", pages.bytes(), Code::kMemoryAllocation);
  struct stat facts = {};
  if (!memory.ok() || ::fstat(memory->get(), &facts) != 0) return false;
  const Descriptor& file = *memory;
  alias.pages = pages;
  alias.device = facts.st_dev;
  alias.inode = facts.st_ino;
  alias.moved.reserve(mappings.size());
  void* const wanted = At(pages.begin - kDistance);
  void* const reserved = ::mmap(wanted, pages.bytes(), PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (reserved == MAP_FAILED) return false;
  bool made = reserved == wanted;
  for (const Mapping& mapping : mappings) {
    if (!made) break;
    const Range& part = mapping.range;
    if (mapping.shared) {
      made = ::mremap(At(part.begin), 0, part.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED,
                      At(part.begin - kDistance)) != MAP_FAILED;
    } else {
      const std::uint64_t moved_end = MoveToFile(part, file.get(), part.begin - pages.begin);
      made = moved_end == part.end;
      if (moved_end != part.begin) alias.moved.push_back({part.begin, moved_end});
    }
  }
  if (made) return true;
  for (const Range& part : alias.moved)
    MoveBack(part);
  ::munmap(reserved, pages.bytes());
  return false;
}

Status HostAliases::Register(void* address, std::size_t bytes, bool read_only) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (read_only || bytes < HostPageBytes() || begin <= kDistance) return {};
  Alias alias;
  const std::lock_guard lock(lock_);
  // What may throw comes before anything is moved.
  const auto [node, is_new] = aliases_.try_emplace(begin);
  if (!is_new) {  // the program may have other memory there by now
    ++node->second.registrations;
    return {};
  }
  bool made = false;
  try {
    made = Make(PagesAround({begin, begin + bytes}), alias);
  } catch (...) {
    aliases_.erase(node);
    throw;
  }
  if (made) {
    node->second = std::move(alias);
  } else {
    aliases_.erase(node);
  }
  return {};
}

std::ptrdiff_t HostAliases::EngineDelta(const void* address) const {
  const std::lock_guard lock(lock_);
  const auto found = aliases_.find(reinterpret_cast<std::uintptr_t>(address));
  return found != aliases_.end() && found->second.registrations == 1 ? -static_cast<std::ptrdiff_t>(kDistance)
                                                                     : 0;
}

bool HostAliases::IsPrivate(const Range& addresses) const {
  const std::vector<Mapping> mappings = MappingsIn(PagesAround(addresses));
  const std::lock_guard lock(lock_);
  const auto is_private = [&](const Mapping& mapping) {
    if (!mapping.shared) return true;
    return std::any_of(aliases_.begin(), aliases_.end(), [&](const auto& each) {
      const Alias& alias = each.second;  // its file has what was private
      return !alias.moved.empty() && mapping.device == alias.device && mapping.inode == alias.inode;
    });
  };
  return !mappings.empty() && std::all_of(mappings.begin(), mappings.end(), is_private);
}

void HostAliases::Unregister(void* address) noexcept {
  const std::lock_guard lock(lock_);
  const auto found = aliases_.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == aliases_.end() || --found->second.registrations != 0) return;
  const Alias& alias = found->second;
  MakePrivate(alias);
  ::munmap(At(alias.pages.begin - kDistance), alias.pages.bytes());
  aliases_.erase(found);
}

void HostAliases::MakePrivate(const Alias& alias) noexcept {
  try {
    for (const Range& part : alias.moved) {
      // The program may have unmapped it in the meantime.
      for (const Mapping& mapping : MappingsIn(part)) {
        if (mapping.device == alias.device && mapping.inode == alias.inode) MoveBack(mapping.range);
      }
    }
  } catch (const std::exception&) {
    // Without memory for it the pages stay shared.
  }
}

void HostAliases::Detach(const Range& addresses) noexcept {
  const std::lock_guard lock(lock_);
  for (auto& [address, alias] : aliases_) {
    if (!alias.pages.Touches(addresses)) continue;
    MakePrivate(alias);
    alias.moved.clear();
  }
}

void HostAliases::LeaveInChild() noexcept {
  for (const auto& [address, alias] : aliases_) {
    MakePrivate(alias);
    if (alias.moved.empty()) SetPages(alias.pages, PageLevel::kAll);
  }
}

}  // namespace sampan::check
