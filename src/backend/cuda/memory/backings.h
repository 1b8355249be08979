// What a reserved range can have behind it: memory of a GPU, and pinned host memory in two ways.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cuda/gpu.h"
#include "backend/cuda/memory/host_registrations.h"
#include "backend/cuda/memory/reserved_memory.h"

namespace sampan::cuda {

/// Memory of a GPU, open to itself and to the GPUs that can reach it.
Result<std::unique_ptr<ReservedMemory>> MakeDeviceMemory(Gpu& gpu, ReservedMemoryOptions options,
                                                         const std::vector<int>& reachable_from);

/// Where pinned host memory lies: at the node of the first GPU.
CuLocation PinnedLocation(const Driver& driver);

/// Pinned host memory that the driver makes, from large pages: it has handles and belongs to no context. Null
/// where the driver or a GPU cannot.
std::unique_ptr<ReservedMemory> MakeVirtualPinned(const Driver& driver, int gpus,
                                                  ReservedMemoryOptions options);

/// Pinned host memory that is mapped and registered. The driver finds it 0.1 microseconds sooner. A
/// registration belongs to the context of the GPU that it was made in.
Result<std::unique_ptr<ReservedMemory>> MakeRegisteredPinned(const Driver& driver,
                                                             HostRegistrations& registrations,
                                                             ReservedMemoryOptions options);

}  // namespace sampan::cuda
