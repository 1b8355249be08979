// How a copy of pageable memory is divided: among how many threads, and in parts of what size.
#pragma once

#include <algorithm>
#include <cstddef>

#include "backend/cuda/staged_parts.h"
#include "base/round.h"

namespace sampan::cuda {

struct StagingPlan {
  std::size_t threads;
  std::size_t part_bytes;
};

// All of it measured on an H200 with 16 cores.

/// From here on it pays to wake other threads, and then several at once; few of them fill the link.
inline constexpr std::size_t kSeveralFromBytes = std::size_t{2} << 20;
inline constexpr std::size_t kLeastThreads = 4, kMostThreads = 16;
inline constexpr std::size_t kBytesPerThread = std::size_t{8} << 20;
/// A row or an entry takes a thread as long as so many bytes more.
inline constexpr std::size_t kPieceWork = 64;
/// Short parts let the GPU begin early, long ones cost it fewer starts. One thread lets it begin early;
/// several have parts enough under way.
inline constexpr std::size_t kPartOfOne = std::size_t{128} << 10,
                             kLeastPartOfSeveral = std::size_t{512} << 10;
inline constexpr std::size_t kPartsEach = 4;

/// `pieces`: rows or entries; 1 for a linear copy.
inline StagingPlan PlanStaging(std::size_t bytes, std::size_t pieces, std::size_t cores) {
  const std::size_t work = bytes + kPieceWork * pieces;
  if (work < kSeveralFromBytes || cores == 1) return {1, kPartOfOne};
  const std::size_t threads =
      std::min(std::clamp(work / kBytesPerThread, kLeastThreads, kMostThreads), cores);
  const std::size_t fair =
      std::clamp(bytes / (threads * kPartsEach), kLeastPartOfSeveral, StagingBuffer::kBytes);
  const std::size_t most = std::max(bytes / threads, kPageBytes);  // a part for each
  return {threads, RoundUp(std::min(fair, most), kPageBytes)};
}

}  // namespace sampan::cuda
