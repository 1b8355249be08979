// The two kinds of memory that a reserved range can have behind it: a GPU's, and pinned host memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cuda/gpu.h"
#include "backend/cuda/host_registrations.h"
#include "backend/cuda/reserved_memory.h"

namespace sampan::cuda {

/// Memory of a GPU, open to itself and to the GPUs that can reach it.
Result<std::unique_ptr<ReservedMemory>> MakeDeviceMemory(Gpu& gpu, ReservedMemoryOptions options,
                                                         const std::vector<int>& reachable_from);

/// Where pinned host memory that the driver makes lies: at the node of the first GPU.
CuLocation PinnedLocation(const Driver& driver);

/// Pinned host memory that all GPUs reach. Made by the driver from large pages where it can do that,
/// otherwise mapped and registered; either way it does not depend on a context.
Result<std::unique_ptr<ReservedMemory>> MakePinnedMemory(const Driver& driver, int gpus,
                                                         HostRegistrations& registrations,
                                                         ReservedMemoryOptions options);

}  // namespace sampan::cuda
