// What lies at the addresses that a program passes.
#include "core/memory_location.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include "base/text.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace sampan {

namespace {

Status NotAllocated(const MemoryArgument& argument) {
  return {Code::kParamInvalid, Text(argument.name, " ", Hex(argument.address),
                                    " is an address of the runtime's that is not allocated: freed already, ",
                                    "past the end of its allocation, or reserved with nothing mapped there")};
}

}  // namespace

Status Locate(const MemoryRegistry& registry, const MemoryArgument& argument, Location& found) {
  const auto address = reinterpret_cast<std::uintptr_t>(argument.address);
  found.use = registry.Find(address);
  if (!found.use) {
    if (registry.InSource(address)) return NotAllocated(argument);
    found.place = {};
    found.engine = reinterpret_cast<std::byte*>(address);
    return {};
  }
  const Allocation& allocation = *found.use.get();
  if (argument.bytes > allocation.BytesFrom(address)) {
    Status whole =
        registry.FindNeighbours(found.use, address, argument.bytes, Code::kParamInvalid, found.more);
    if (!whole.ok()) {
      whole.error().message =
          Text(argument.name, " ", Hex(address), " + ", argument.bytes, " bytes", whole.error().message);
      return whole;
    }
  }
  found.place = allocation.facts.place;
  found.engine = allocation.EngineView(address);
  return {};
}

namespace {

Status CheckRightsOf(const Allocation& memory, const MemoryArgument& argument, HostAccess access,
                     std::int32_t device) {
  const std::uint64_t rights = (access == HostAccess::kWrite ? memory.writers : memory.readers).load();
  if ((rights >> device & 1) != 0) return {};
  return {Code::kParamInvalid, Text(argument.name, " ", Hex(argument.address), ": device ", device,
                                    " has no right to ", access == HostAccess::kWrite ? "write" : "read",
                                    " it (aclrtMemSetAccess): ", Describe(memory))};
}

}  // namespace

Status CheckMappedRights(const Location& location, const MemoryArgument& argument, HostAccess access,
                         std::int32_t device) {
  if (Status first = CheckRightsOf(*location.use.get(), argument, access, device); !first.ok()) return first;
  for (const AllocationUse& each : location.more) {
    if (Status next = CheckRightsOf(*each.get(), argument, access, device); !next.ok()) return next;
  }
  return {};
}

namespace {

/// From here on looking at the mappings is cheaper than at the pages.
constexpr std::size_t kLargeRange = std::size_t{64} << 20;

/// Which mappings count.
enum class Mappings { kAny, kAnonymous };

/// The inode in a line of /proc/self/maps: the fifth field; 0 for memory without a file.
bool HasFile(std::string_view line) {
  for (int field = 1; field < 5; ++field)
    line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
  return !line.starts_with("0");
}

/// Whether /proc/self/maps shows the whole of [first, last] with that access in such mappings.
bool MapsAllow(std::uintptr_t first, std::uintptr_t last, HostAccess access, Mappings mappings) {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return mappings == Mappings::kAny;  // nobody can tell
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    const char* const text_end = line.data() + line.size();
    const auto dash = std::from_chars(line.data(), text_end, begin, 16);
    const auto space = std::from_chars(dash.ptr + 1, text_end, end, 16);
    if (first < begin) return false;  // a hole
    if (first >= end) continue;
    const char* const permissions = space.ptr + 1;
    if (permissions[access == HostAccess::kRead ? 0 : 1] == '-') return false;
    if (mappings == Mappings::kAnonymous && HasFile(line)) return false;
    if (last < end) return true;
    first = end;
  }
  return false;
}

/// Asks the kernel to make the range accessible, which fails where the program could not access it.
bool Accessible(std::uintptr_t address, std::size_t bytes, HostAccess access) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = address / page * page;
  const std::uintptr_t last = address + bytes - 1;
  if (last < address) return false;
  // The kernel would walk every page. Memory without a file has nothing to find there that its mapping does
  // not say.
  if (bytes >= kLargeRange && MapsAllow(address, last, access, Mappings::kAnonymous)) return true;
  const int advice = access == HostAccess::kRead ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;
  if (::madvise(reinterpret_cast<void*>(first), last - first + 1, advice) == 0) return true;
  switch (errno) {
    case EAGAIN:
    case EINTR:
      return true;
    // Kernels before 5.14, memory of devices, or a permission that is missing: only the map can tell.
    case EINVAL:
      return MapsAllow(address, last, access, Mappings::kAny);
    default:
      return false;
  }
}

}  // namespace

Status ProbeHostMemory(const MemoryArgument& argument, HostAccess access) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(argument.address);
  const bool accessible = Accessible(address, argument.bytes, access);
  errno = saved_errno;
  if (accessible) return {};
  return {Code::kParamInvalid,
          Text(argument.name, " ", Hex(address), " + ", argument.bytes, " bytes is host memory that ",
               "the process cannot ", access == HostAccess::kRead ? "read" : "write")};
}

}  // namespace sampan
