// What lies at the addresses that a program passes.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "backend/api/allocation.h"
#include "base/error/status.h"
#include "core/memory/host_mappings.h"
#include "core/memory/memory_registry.h"

namespace sampan {

/// An argument that points to memory, with the name that messages give it.
struct MemoryArgument {
  std::string_view name;
  const void* address;
  std::size_t bytes;

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(address); }
};

using Uses = std::vector<AllocationUse>;

/// A checked range: where it is, what keeps it alive, how the copy engines see it.
struct Location {
  Place place;
  AllocationUse use;  ///< empty for pageable memory, and for a range that is pageable from somewhere on
  std::byte* engine = nullptr;
  std::unique_ptr<Uses> neighbours;  ///< where several pieces make up the range

  /// True if the allocation that was found holds the whole range.
  bool LiesInOne(const MemoryArgument& argument) const {
    return use && use->Holds(argument.begin(), argument.bytes);
  }
  /// Fills in what follows from the allocation at the start of the range.
  void Complete(const void* address) {
    place = use->facts.place;
    engine = use->EngineView(reinterpret_cast<std::uintptr_t>(address));
  }
};

/// An argument and what lies there, to a person; the allocation may be null.
std::string Describe(const MemoryArgument& argument, const Place& place, const Allocation* memory);

/// Finds the range of an argument; its start decides the place. Refuses a range that leaves its allocation,
/// and an address of the runtime that is not allocated. A range that begins in registered memory may go on
/// outside, because all of it is the program's. LocateFound continues from an allocation that was looked up.
/// LocateInFull handles a range that this allocation does not hold.
Status LocateInFull(const MemoryRegistry& registry, const MemoryArgument& argument, Location& found);
inline Status LocateFound(const MemoryRegistry& registry, const MemoryArgument& argument, Location& found) {
  if (!found.LiesInOne(argument)) [[unlikely]]
    return LocateInFull(registry, argument, found);
  found.Complete(argument.address);
  return {};
}
inline Status Locate(const MemoryRegistry& registry, const MemoryArgument& argument, Location& found) {
  found.use = registry.Find(argument.begin());
  return LocateFound(registry, argument, found);
}

Status CheckMappedRights(const Location& location, const MemoryArgument& argument, HostAccess access,
                         std::int32_t device);
/// Refuses mapped memory that the device has no right to access so.
inline Status CheckRights(const Location& location, const MemoryArgument& argument, HostAccess access,
                          std::int32_t device) {
  if (!location.use || !location.use->facts.has_rights) return {};
  return CheckMappedRights(location, argument, access, device);
}

/// Refuses ranges of ordinary host memory that the process cannot access so: what would otherwise be a crash.
/// For the ranges of one request.
class HostProbe {
 public:
  Status Check(const MemoryArgument& argument, HostAccess access);

 private:
  bool Accessible(std::uintptr_t address, std::size_t bytes, HostAccess access);

  HostMappings mappings_;
  std::size_t asked_ = 0;
};

inline Status ProbeHostMemory(const MemoryArgument& argument, HostAccess access) {
  return HostProbe().Check(argument, access);
}

}  // namespace sampan
