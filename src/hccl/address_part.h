// Whether an address lies inside a block.
#pragma once

#include <cstdint>

#include "hccl/base.h"

namespace sampan::hccl {

inline bool IsPart(const void* block, u64 bytes, const void* address) {
  if (block == nullptr) return false;
  const auto base = reinterpret_cast<std::uintptr_t>(block);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= base && at - base < bytes;
}

}  // namespace sampan::hccl
