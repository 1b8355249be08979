// The places of a copy's ends, for the driver and for the choice of a path.
#pragma once

#include <cstddef>

#include "backend/api/allocation.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/gpu.h"
#include "backend/cuda/paths/copy_path.h"

namespace sampan::cuda {

inline CuAddress AddressOf(const void* pointer) {
  return reinterpret_cast<CuAddress>(pointer);
}

inline bool OnDevice(const AllocationUse& use) {
  return use && use->facts.place.on_device();
}

/// Returns true if the place of the memory permits access by a kernel.
inline bool KernelReaches(const Gpu& gpu, const AllocationUse& use) {
  return use && (!OnDevice(use) || gpu.Reaches(use->facts.address));
}

inline bool OneDevice(const AllocationUse& dst, const AllocationUse& src) {
  return OnDevice(dst) && OnDevice(src) && dst->facts.place == src->facts.place;
}

}  // namespace sampan::cuda
