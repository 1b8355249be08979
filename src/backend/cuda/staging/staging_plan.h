// Divides a copy of pageable memory into parts, and estimates its work.
#pragma once

#include <algorithm>
#include <cstddef>

#include "backend/cuda/staging/staged_parts.h"
#include "base/containers/round.h"

namespace sampan::cuda {

/// A row or an entry costs a thread as much as this many bytes.
inline constexpr std::size_t kPieceWork = 64;
/// With short parts the GPU begins early; long parts need fewer starts. One thread uses short parts. Several
/// threads have enough parts in flight for long ones.
inline constexpr std::size_t kSinglePartBytes = std::size_t{128} << 10,
                             kMinSharedPartBytes = std::size_t{512} << 10;
inline constexpr std::size_t kPartsEach = 4;

/// The work of a copy, in bytes that take as long. `pieces`: rows or entries; 1 for a linear copy.
inline std::size_t StagingWork(std::size_t bytes, std::size_t pieces) {
  return bytes + kPieceWork * pieces;
}

inline std::size_t StagingPartBytes(std::size_t bytes, std::size_t threads) {
  if (threads == 1) return kSinglePartBytes;
  const std::size_t fair =
      std::clamp(bytes / (threads * kPartsEach), kMinSharedPartBytes, StagingBuffer::kBytes);
  const std::size_t max_bytes = std::max(bytes / threads, kDevicePageBytes);  // one part per thread
  return RoundUp(std::min(fair, max_bytes), kDevicePageBytes);
}

}  // namespace sampan::cuda
