// The copies and fills of a copy engine: what the emulated device does instead of DMA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/api/copy_segment.h"

// All functions: pure, safe from any thread, any alignment, any length. Only bytes of a destination are
// written and only bytes of a source are read. When one returns, a release-store of the same thread publishes
// what it wrote. Overlap: CopyBytes behaves like memmove within one call. For the others an overlap leaves
// unspecified bytes in the destination and does no other harm.
namespace sampan::emulated {

/// Whether the destination may stay in the caches, or is written past them to keep what others need. The
/// caller decides, because a call may see only one chunk of the whole request.
enum class Caching { kKeep, kStream };

/// What fits a request of that many bytes, over all its segments or rows.
constexpr Caching CachingFor(std::size_t request_bytes) {
  constexpr std::size_t kStreamFromBytes = std::size_t{8} << 20;
  return request_bytes >= kStreamFromBytes ? Caching::kStream : Caching::kKeep;
}

void CopyBytes(std::byte* dst, const std::byte* src, std::size_t bytes, Caching caching) noexcept;
void CopySegments(std::span<const Segment> segments, Caching caching) noexcept;
void CopyRows(const Rows& rows, Caching caching) noexcept;

/// Byte i becomes byte (i mod 4) of the pattern, counted from the least significant one.
void FillBytes(std::byte* dst, std::uint32_t pattern32, std::size_t bytes, Caching caching) noexcept;

}  // namespace sampan::emulated
