// Addresses that keep their place while what was mapped there goes.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace sampan {

/// Takes away what is mapped at whole pages. An access faults from then on, and nothing else comes to lie
/// there.
inline void Vacate(void* pages, std::size_t bytes) noexcept {
  // Where the system has no room for one more mapping, what was there stays: no harm but the memory.
  [[maybe_unused]] void* const vacated =
      ::mmap(pages, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace sampan
