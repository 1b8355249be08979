// Where a copy begins or ends, as observers are told it.
#pragma once

#include <cstdint>

#include "backend/api/allocation.h"
#include "observe/activity.h"

namespace sampan::observe {

/// One end of a copy.
struct MemoryEnd {
  std::uint64_t allocation;  ///< 0: the offset is an address of pageable memory
  std::uint64_t offset;
  Memory memory;
  std::int32_t device;
};

/// The end at an engine's address; without an allocation it is pageable memory.
inline MemoryEnd EndOf(const void* engine, const Allocation* allocation) {
  const auto address = reinterpret_cast<std::uintptr_t>(engine);
  if (allocation == nullptr) return {0, address, Memory::kPageable, 0};
  const AllocationFacts& facts = allocation->facts;
  const std::uintptr_t begin = facts.address + static_cast<std::uintptr_t>(facts.engine_delta);
  const bool on_device = facts.place.on_device();
  return {facts.serial, address - begin, on_device ? Memory::kDevice : Memory::kPinned,
          on_device ? facts.place.device : 0};
}

}  // namespace sampan::observe
