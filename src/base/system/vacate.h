// Unmaps memory but keeps its addresses reserved.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace sampan {

/// Unmaps whole pages. Later accesses fault, and no other mapping gets these addresses.
inline void Vacate(void* pages, std::size_t bytes) noexcept {
  // If the system allows no further mapping, the old one stays. This only wastes memory.
  [[maybe_unused]] void* const vacated =
      ::mmap(pages, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace sampan
