// Device memory for work that other ranks take part in: its engine address, and what keeps it.
#pragma once

#include <cstdint>

#include "backend/api/allocation.h"
#include "base/error/status.h"
#include "base/platform_bridge.h"
#include "core/copy/memory_location.h"

namespace sampan::core {

/// Finds the device memory of an argument that the device may write. Refuses host memory.
Status FindDeviceRange(const MemoryRegistry& memory, const MemoryArgument& argument, std::int32_t device,
                       DeviceRange& range);

/// The allocation in which a range lies that FindDeviceRange found.
const Allocation* AllocationOf(const HeldMemory& held);

}  // namespace sampan::core
