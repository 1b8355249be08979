// Converts 16-bit floats (IEEE 754 binary16, bfloat16) to single precision and back. Without branches, so
// that compilers vectorize loops.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sampan {

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits;
};
/// The upper half of a single (bfloat16).
struct BrainFloat {
  std::uint16_t bits;
};

/// Always inlined: the caller may be compiled for other instructions.
#define SAMPAN_INLINE inline __attribute__((always_inline))

namespace float_bits {
inline constexpr int kExponentAt = 23;  // of a single
inline constexpr std::int32_t kInfinity = 0xFF << kExponentAt;
/// The exponent of 2^-14, the smallest normal half. Smaller halves are multiples of 2^-24.
inline constexpr std::int32_t kMinHalf = 113 << kExponentAt;
/// 2^16, the smallest power of two that is no half.
inline constexpr std::int32_t kBeyondHalves = 143 << kExponentAt;
/// A single has this many more fraction bits than a half.
inline constexpr int kSurplusBits = 13;
}  // namespace float_bits

/// Exact. A NaN keeps its sign and fraction and becomes quiet.
SAMPAN_INLINE float ToFloat(Half half) noexcept {
  using namespace float_bits;
  const std::int32_t magnitude = half.bits & 0x7FFF;
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000) << 16;
  const bool subnormal = magnitude < 0x400;
  const std::int32_t normal_rebias = magnitude >= 0x7C00 ? 224 << kExponentAt : 112 << kExponentAt;
  // A subnormal gets an exponent that adds a leading one. The subtraction removes it again.
  const std::int32_t rebias = subnormal ? kMinHalf : normal_rebias;
  const std::int32_t leading_one = subnormal ? kMinHalf : 0;
  const float value =
      std::bit_cast<float>((magnitude << kSurplusBits) + rebias) - std::bit_cast<float>(leading_one);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

/// Rounds to nearest, ties to even; from 65520 on gives infinity. A NaN becomes quiet and keeps its sign and
/// upper fraction bits.
SAMPAN_INLINE Half ToHalf(float value) noexcept {
  using namespace float_bits;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto magnitude = static_cast<std::int32_t>(bits & 0x7FFFFFFF);
  const std::int32_t bounded = std::min(magnitude, kBeyondHalves);
  const std::int32_t exponent = std::max(bounded & kInfinity, kMinHalf);
  // The last bit of this power of two has the weight of the half's last bit, so adding it rounds.
  const std::int32_t rounder = exponent + (kSurplusBits << kExponentAt);
  const std::int32_t rounded =
      std::bit_cast<std::int32_t>(std::bit_cast<float>(bounded) + std::bit_cast<float>(rounder));
  const std::int32_t nan = magnitude > kInfinity ? 0x200 | (magnitude >> kSurplusBits & 0x3FF) : 0;
  const std::int32_t half = ((exponent - kMinHalf) >> kSurplusBits) + (rounded - rounder);
  return {static_cast<std::uint16_t>(half | nan | (bits >> 16 & 0x8000))};
}

/// Exact.
SAMPAN_INLINE float ToFloat(BrainFloat brain) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(brain.bits) << 16);
}

/// Rounds to nearest, ties to even. A NaN becomes quiet and keeps its sign and upper fraction bits.
SAMPAN_INLINE BrainFloat ToBrainFloat(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = static_cast<std::int32_t>(bits & 0x7FFFFFFF) > float_bits::kInfinity;
  const std::uint32_t quiet = bits >> 16 | 0x40;
  const std::uint32_t nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return {static_cast<std::uint16_t>(nan ? quiet : nearest)};
}

}  // namespace sampan
