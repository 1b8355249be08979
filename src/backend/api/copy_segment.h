// The two shapes of bytes that a queue copies: one contiguous piece, or equally long rows at fixed distances.
#pragma once

#include <cstddef>

namespace sampan {

// One contiguous transfer. Owns nothing.
struct Segment {
  std::byte* dst;
  const std::byte* src;
  std::size_t bytes;
};

// `height` rows of `width` bytes; row i starts at dst + i * dst_pitch and src + i * src_pitch. Owns nothing.
// The pitches are at least `width`; nothing between two rows is read or written.
struct Rows {
  std::byte* dst;
  const std::byte* src;
  std::size_t dst_pitch;
  std::size_t src_pitch;
  std::size_t width;
  std::size_t height;
};

}  // namespace sampan
