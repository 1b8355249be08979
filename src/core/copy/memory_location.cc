// Finds the memory at the addresses that a program passes.
#include "core/copy/memory_location.h"

#include <sys/mman.h>

#include <cerrno>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/system/page_size.h"
#include "observe/hooks.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace sampan::core {

namespace {

Status NotAllocated(const MemoryArgument& argument) {
  return {Code::kParamInvalid, Text(argument.name, " ", Hex(argument.address),
                                    " is an address of the runtime's that is not allocated: freed already, ",
                                    "past the end of its allocation, or reserved with nothing mapped there")};
}

void TellRefused(observe::Mistake::Kind kind, const MemoryArgument& argument, std::uint64_t allocation) {
  if (!observe::On()) return;
  observe::TellMistake({.kind = kind,
                        .address = argument.begin(),
                        .bytes = argument.bytes,
                        .allocation = allocation,
                        .reads = argument.name.starts_with("src")});
}

/// Returns true if a range begins in registered memory and continues in other memory of the program.
bool GoesOnOutside(const MemoryRegistry& registry, const Allocation& first, const MemoryArgument& argument) {
  const auto last = reinterpret_cast<std::uintptr_t>(argument.address) + argument.bytes - 1;
  return registry.OriginOf(first) == MemoryOrigin::kRegistered && !registry.InSource(last);
}

}  // namespace

std::string Describe(const MemoryArgument& argument, const Place& place, const Allocation* memory) {
  return Text(argument.name, " ", Hex(argument.address), " is ",
              memory != nullptr ? Describe(*memory) : Describe(place));
}

Status LocateInFull(const MemoryRegistry& registry, const MemoryArgument& argument, Location& found) {
  const std::uintptr_t address = argument.begin();
  if (!found.use) {
    if (registry.InSource(address)) {
      TellRefused(observe::Mistake::Kind::kNotAllocated, argument, 0);
      return NotAllocated(argument);
    }
    found.place = {};
    found.engine = reinterpret_cast<std::byte*>(address);
    found.read_only = registry.FindReadOnlyRegistration(address, argument.bytes);
    return {};
  }
  const Allocation& allocation = *found.use.get();
  SAMPAN_ASSERT(allocation.Contains(address));
  found.Complete(argument.address);
  Uses neighbours;
  Status whole = registry.FindNeighbours(found.use, address, argument.bytes, Code::kParamInvalid, neighbours);
  if (whole.ok()) {
    found.neighbours = std::make_unique<Uses>(std::move(neighbours));
    return {};
  }
  if (GoesOnOutside(registry, allocation, argument)) {  // all of it is copied like pageable memory
    found.engine = reinterpret_cast<std::byte*>(address);
    found.use = {};
    found.read_only = registry.FindReadOnlyRegistration(address, argument.bytes);
    return {};
  }
  TellRefused(observe::Mistake::Kind::kOutOfBounds, argument, allocation.facts.serial);
  whole.error().message =
      Text(argument.name, " ", Hex(address), " + ", argument.bytes, " bytes", whole.error().message);
  return whole;
}

namespace {

bool MayAccess(const Allocation& memory, HostAccess access, std::int32_t device) {
  if (device == kNoDevice) return access == HostAccess::kRead || !memory.facts.registered_read_only();
  const std::uint64_t rights = (access == HostAccess::kWrite ? memory.writers : memory.readers).load();
  return (rights >> device & 1) != 0;
}

Status CheckRightsOf(const Allocation& memory, const MemoryArgument& argument, HostAccess access,
                     std::int32_t device) {
  SAMPAN_ASSERT(memory.facts.has_rights && device >= kNoDevice && device < 64);
  if (MayAccess(memory, access, device)) return {};
  if (memory.facts.registered_read_only()) {
    return {Code::kParamInvalid,
            Text(argument.name, " ", Hex(argument.address), " + ", argument.bytes,
                 " bytes reaches memory that was registered as read-only, so nothing may be copied there: ",
                 Describe(memory))};
  }
  return {Code::kParamInvalid, Text(argument.name, " ", Hex(argument.address), ": device ", device,
                                    " has no right to ", access == HostAccess::kWrite ? "write" : "read",
                                    " it (aclrtMemSetAccess): ", Describe(memory))};
}

}  // namespace

Status CheckSpecialRights(const Location& location, const MemoryArgument& argument, HostAccess access,
                          std::int32_t device) {
  if (!location.use) return CheckRightsOf(*location.read_only.get(), argument, access, device);
  if (Status first = CheckRightsOf(*location.use.get(), argument, access, device); !first.ok()) return first;
  if (location.neighbours == nullptr) return {};
  for (const AllocationUse& each : *location.neighbours) {
    if (Status next = CheckRightsOf(*each.get(), argument, access, device); !next.ok()) return next;
  }
  return {};
}

namespace {

/// From kLargeRange on, a query of the mapping is cheaper than probing pages. From kHugeRange on, reading
/// /proc is cheapest.
constexpr std::size_t kLargeRange = std::size_t{256} << 10, kHugeRange = std::size_t{64} << 20;
/// The same holds for a request with more ranges than this.
constexpr std::size_t kMaxRangesProbed = 4;

}  // namespace

bool HostProbe::Accessible(std::uintptr_t address, std::size_t bytes, HostAccess access) {
  const std::uintptr_t first = address / HostPageBytes() * HostPageBytes();
  const std::uintptr_t last = address + bytes - 1;
  if (last < address) return false;
  // To populate the range, the kernel walks every page and fails at one that the program cannot access. For
  // memory without a file, the mapping tells as much.
  if (mappings_.Remembered(address, last, access)) return true;
  ++asked_;
  if ((bytes >= kLargeRange || asked_ > kMaxRangesProbed) && mappings_.Anonymous(address, last, access))
    return true;
  if (bytes >= kHugeRange && HostMappings::TextShows(address, last, access, HostMappings::Kind::kAnonymous)) {
    return true;
  }
  const int advice = access == HostAccess::kRead ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;
  if (::madvise(reinterpret_cast<void*>(first), last - first + 1, advice) == 0) return true;
  switch (errno) {
    case EAGAIN:
    case EINTR:
      return true;
    // A kernel before 5.14, device memory, or a missing permission: only the map can tell.
    case EINVAL:
      return HostMappings::TextShows(address, last, access, HostMappings::Kind::kAny);
    default:
      return false;
  }
}

Status HostProbe::Check(const MemoryArgument& argument, HostAccess access) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(argument.address);
  const bool accessible = Accessible(address, argument.bytes, access);
  errno = saved_errno;
  if (accessible) return {};
  return {Code::kParamInvalid,
          Text(argument.name, " ", Hex(address), " + ", argument.bytes, " bytes is host memory that ",
               "the process cannot ", access == HostAccess::kRead ? "read" : "write")};
}

}  // namespace sampan::core
