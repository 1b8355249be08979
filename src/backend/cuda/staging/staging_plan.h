// How a copy of pageable memory is divided into parts, and how much work it is.
#pragma once

#include <algorithm>
#include <cstddef>

#include "backend/cuda/staging/staged_parts.h"
#include "base/containers/round.h"

namespace sampan::cuda {

/// A row or an entry takes a thread as long as so many bytes more.
inline constexpr std::size_t kPieceWork = 64;
/// Short parts let the GPU begin early, long ones cost it fewer starts. One thread lets it begin early;
/// several have parts enough under way.
inline constexpr std::size_t kSinglePartBytes = std::size_t{128} << 10,
                             kMinSharedPartBytes = std::size_t{512} << 10;
inline constexpr std::size_t kPartsEach = 4;

/// In bytes that take as long. `pieces`: rows or entries; 1 for a linear copy.
inline std::size_t StagingWork(std::size_t bytes, std::size_t pieces) {
  return bytes + kPieceWork * pieces;
}

inline std::size_t StagingPartBytes(std::size_t bytes, std::size_t threads) {
  if (threads == 1) return kSinglePartBytes;
  const std::size_t fair =
      std::clamp(bytes / (threads * kPartsEach), kMinSharedPartBytes, StagingBuffer::kBytes);
  const std::size_t most = std::max(bytes / threads, kPageBytes);  // a part for each
  return RoundUp(std::min(fair, most), kPageBytes);
}

}  // namespace sampan::cuda
