// The copies and fills of a copy engine. The emulated device uses them instead of DMA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/api/copy_segment.h"

// All functions are thread-safe and take any alignment and length. They write only bytes of the destination
// and read only bytes of the source. After return, a release-store of the same thread publishes the written
// bytes. Overlap: CopyBytes behaves like memmove. The others leave unspecified bytes in the destination, and
// nothing worse.
namespace sampan::emulated {

/// Whether the destination may stay in the caches, or is written past them to keep their content. The caller
/// decides, because a call may see only one chunk of the request.
enum class Caching { kKeep, kStream };

/// The choice for a request of that many bytes in all its segments or rows.
constexpr Caching CachingFor(std::size_t request_bytes) {
  constexpr std::size_t kStreamFromBytes = std::size_t{8} << 20;
  return request_bytes >= kStreamFromBytes ? Caching::kStream : Caching::kKeep;
}

void CopyBytes(std::byte* dst, const std::byte* src, std::size_t bytes, Caching caching) noexcept;
void CopySegments(std::span<const Segment> segments, Caching caching) noexcept;
void CopyRows(const Rows& rows, Caching caching) noexcept;

/// Sets byte i to byte (i mod 4) of the pattern, counted from the least significant byte.
void FillBytes(std::byte* dst, std::uint32_t pattern32, std::size_t bytes, Caching caching) noexcept;

}  // namespace sampan::emulated
