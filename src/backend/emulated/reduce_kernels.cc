// The arithmetic of a copy engine: combines a source into a destination, element by element.
#include "backend/emulated/reduce_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace sampan::emulated {
namespace {

using Operation = ReduceTask::Operation;

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits;

  static float Widen(Half half) {
    const std::uint32_t sign = (half.bits & 0x8000U) << 16;
    const std::uint32_t exponent = (half.bits >> 10) & 0x1F;
    const std::uint32_t fraction = half.bits & 0x3FF;
    if (exponent == 0) {
      const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
      return sign == 0 ? magnitude : -magnitude;
    }
    const std::uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 112;
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
  }
  static Half Narrow(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) return {static_cast<std::uint16_t>(sign | 0x7E00U)};
    if (magnitude >= 65520.0F) return {static_cast<std::uint16_t>(sign | 0x7C00U)};
    if (magnitude < 0x1p-14F) {  // subnormal: a multiple of 2^-24, rounded as the processor rounds
      const auto steps = static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24F));
      return {static_cast<std::uint16_t>(sign | steps)};
    }
    const std::uint32_t rounded = (bits & 0x7FFFFFFFU) + 0xFFFU + (bits >> 13 & 1U);
    return {static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112U << 10)))};
  }
};

/// The upper half of a single.
struct BrainFloat {
  std::uint16_t bits;

  static float Widen(BrainFloat value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
  }
  static BrainFloat Narrow(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return {static_cast<std::uint16_t>(bits >> 16 | 0x40U)};
    return {static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16)};
  }
};

template <Operation kOperation, typename T>
T Combine(T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    if constexpr (kOperation == Operation::kSum)
      return static_cast<T>(
          static_cast<Unsigned>(static_cast<Unsigned>(left) + static_cast<Unsigned>(right)));
    return kOperation == Operation::kMax ? std::max(left, right) : std::min(left, right);
  } else if constexpr (std::is_same_v<T, float>) {
    if constexpr (kOperation == Operation::kSum) return left + right;
    if (std::isnan(left) || std::isnan(right)) return std::numeric_limits<float>::quiet_NaN();
    return kOperation == Operation::kMax ? std::max(left, right) : std::min(left, right);
  } else {
    return T::Narrow(Combine<kOperation, float>(T::Widen(left), T::Widen(right)));
  }
}

template <Operation kOperation, typename T>
void ReduceAll(const Segment& segment) noexcept {
  for (std::size_t at = 0; at < segment.bytes; at += sizeof(T)) {
    T left;
    T right;
    std::memcpy(&left, segment.dst + at, sizeof(T));
    std::memcpy(&right, segment.src + at, sizeof(T));
    const T result = Combine<kOperation, T>(left, right);
    std::memcpy(segment.dst + at, &result, sizeof(T));
  }
}

template <typename T>
void ReduceAll(const Segment& segment, Operation operation) noexcept {
  switch (operation) {
    case Operation::kSum:
      return ReduceAll<Operation::kSum, T>(segment);
    case Operation::kMax:
      return ReduceAll<Operation::kMax, T>(segment);
    case Operation::kMin:
      return ReduceAll<Operation::kMin, T>(segment);
  }
}

}  // namespace

void Reduce(const Segment& segment, Operation operation, ReduceTask::Element element) noexcept {
  switch (element) {
    case ReduceTask::Element::kInt8:
      return ReduceAll<std::int8_t>(segment, operation);
    case ReduceTask::Element::kInt16:
      return ReduceAll<std::int16_t>(segment, operation);
    case ReduceTask::Element::kInt32:
      return ReduceAll<std::int32_t>(segment, operation);
    case ReduceTask::Element::kHalf:
      return ReduceAll<Half>(segment, operation);
    case ReduceTask::Element::kFloat:
      return ReduceAll<float>(segment, operation);
    case ReduceTask::Element::kBrainFloat:
      return ReduceAll<BrainFloat>(segment, operation);
  }
}

}  // namespace sampan::emulated
