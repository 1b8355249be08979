// The memory behind a reserved range: of a GPU, or pinned host memory of three types.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cuda/gpu.h"
#include "backend/cuda/memory/host_registrations.h"
#include "backend/cuda/memory/reserved_memory.h"

namespace sampan::cuda {

/// Memory of a GPU, for the GPU and for other GPUs with access to it.
Result<std::unique_ptr<ReservedMemory>> MakeDeviceMemory(Gpu& gpu, ReservedMemoryOptions options,
                                                         const std::vector<int>& reachable_from);

/// The location of pinned host memory: the node of the first GPU.
CuLocation PinnedLocation(const Driver& driver);

/// Pinned host memory that the driver creates from large pages. It has handles and belongs to no context.
/// Null if the driver or a GPU does not support it.
std::unique_ptr<ReservedMemory> MakeVirtualPinned(const Driver& driver, int gpus,
                                                  ReservedMemoryOptions options);

/// Pinned host memory that is mapped and registered. The driver finds it 0.1 microseconds faster. A
/// registration belongs to the context in which it was made.
Result<std::unique_ptr<ReservedMemory>> MakeRegisteredPinned(const Driver& driver,
                                                             HostRegistrations& registrations,
                                                             ReservedMemoryOptions options);

/// The same with an address of its own for the GPUs. So the checker may protect the program's address.
Result<std::unique_ptr<ReservedMemory>> MakeAliasedPinned(const Driver& driver,
                                                          HostRegistrations& registrations,
                                                          ReservedMemoryOptions options);

}  // namespace sampan::cuda
