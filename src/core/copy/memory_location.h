// Finds the memory at the addresses that a program passes.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "backend/api/allocation.h"
#include "base/error/status.h"
#include "core/memory/host_mappings.h"
#include "core/memory/memory_registry.h"

namespace sampan::core {

/// An argument that points to memory, and its name in messages.
struct MemoryArgument {
  std::string_view name;
  const void* address;
  std::size_t bytes;

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(address); }
};

using Uses = std::vector<AllocationUse>;

/// A checked range: its place, the use that keeps it alive, and its address for the copy engines.
struct Location {
  Place place;
  AllocationUse use;  ///< empty if the range is pageable or partly pageable
  std::byte* engine = nullptr;
  std::unique_ptr<Uses> neighbours;  ///< if the range consists of several allocations
  AllocationUse read_only;           ///< without `use`: a registration in the range that must not be written

  /// Returns true if the found allocation contains the whole range.
  bool LiesInOne(const MemoryArgument& argument) const {
    return use && use->Holds(argument.begin(), argument.bytes);
  }
  /// Sets the members that follow from the allocation at the start of the range.
  void Complete(const void* address) {
    place = use->facts.place;
    engine = use->EngineView(reinterpret_cast<std::uintptr_t>(address));
  }
};

/// Text for messages: an argument and the memory there. The allocation may be null.
std::string Describe(const MemoryArgument& argument, const Place& place, const Allocation* memory);

/// Finds the memory of an argument; its start decides the place. Refuses a range that leaves its allocation,
/// and an address of the runtime that is not allocated. A range that begins in registered memory may continue
/// outside, because all of it is the program's. LocateInFull handles a range that the allocation does not
/// contain.
Status LocateInFull(const MemoryRegistry& registry, const MemoryArgument& argument, Location& found);
inline Status Locate(const MemoryRegistry& registry, const MemoryArgument& argument, Location& found) {
  found.use = registry.Find(argument.begin());
  if (!found.LiesInOne(argument)) [[unlikely]]
    return LocateInFull(registry, argument, found);
  found.Complete(argument.address);
  return {};
}

/// Stands for a device where the calling thread copies between host memory itself.
inline constexpr std::int32_t kNoDevice = -1;

Status CheckSpecialRights(const Location& location, const MemoryArgument& argument, HostAccess access,
                          std::int32_t device);
/// Refuses mapped and read-only memory if the device lacks the right to this access. Without a device, only
/// writes to memory that was registered as read-only.
inline Status CheckRights(const Location& location, const MemoryArgument& argument, HostAccess access,
                          std::int32_t device) {
  const bool special = location.use ? location.use->facts.has_rights : static_cast<bool>(location.read_only);
  return special ? CheckSpecialRights(location, argument, access, device) : Status();
}

/// Refuses ranges of ordinary host memory that the process cannot access. Otherwise the copy would crash. One
/// object serves one request.
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

}  // namespace sampan::core
