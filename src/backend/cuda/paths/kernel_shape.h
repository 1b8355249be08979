// Divides the work of a copy among a kernel's threads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "backend/cuda/kernels/kernel_arguments.h"

namespace sampan::cuda {

inline constexpr std::size_t kVectorBytes = 16, kWordBytes = 4;
inline constexpr unsigned kMaxTeamBits = 5;  // a warp
/// Fewer threads would access less than a line of 128 bytes together.
inline constexpr unsigned kMinTeamBits = 3;

/// The threads that share a piece of that length, as a power of two: so few that each has all of its accesses
/// in flight.
inline unsigned TeamBitsFor(std::size_t piece_bytes) {
  const std::size_t vectors = std::max<std::size_t>(piece_bytes / kVectorBytes / kVectorsInFlight, 1);
  return std::clamp(static_cast<unsigned>(std::bit_width(vectors - 1)), kMinTeamBits, kMaxTeamBits);
}

}  // namespace sampan::cuda
