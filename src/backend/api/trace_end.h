// An end of a copy, as traces show it.
#pragma once

#include <cstdint>

#include "backend/api/allocation.h"
#include "trace/record.h"

namespace sampan {

/// The end at an engine's address. Without an allocation it is pageable memory.
inline trace::MemoryEnd EndOf(const void* engine, const Allocation* allocation) {
  using summary::Memory;
  const auto address = reinterpret_cast<std::uintptr_t>(engine);
  if (allocation == nullptr) return {0, address, Memory::kPageable, 0};
  const AllocationFacts& facts = allocation->facts;
  const std::uintptr_t begin = facts.address + static_cast<std::uintptr_t>(facts.engine_delta);
  const bool on_device = facts.place.on_device();
  return {facts.serial, address - begin, on_device ? Memory::kDevice : Memory::kPinned,
          on_device ? facts.place.device : 0};
}

}  // namespace sampan
