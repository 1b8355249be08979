// Sixteen-bit floats against values that are worked out from the definition of the format, in double
// precision: every value widened, and everything that could be rounded wrongly narrowed.
#include "base/reduce/sixteen_bit_floats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace sampan::sixteen_bit_floats_test {
namespace {

/// A format: how many bits the fraction has, and the exponent of the smallest normal value.
struct Format {
  int fraction_bits;
  int min_exponent;

  std::uint32_t infinity() const { return 0x7FFFU >> fraction_bits << fraction_bits; }
  bool IsNan(std::uint32_t bits) const { return (bits & 0x7FFFU) > infinity(); }
  double Value(std::uint32_t bits) const {
    const int exponent = static_cast<int>((bits & 0x7FFFU) >> fraction_bits);
    const auto fraction = static_cast<int>(bits & ((1U << fraction_bits) - 1));
    const int leading = exponent == 0 ? 0 : 1 << fraction_bits;
    const double magnitude =
        (bits & 0x7FFFU) == infinity()
            ? std::numeric_limits<double>::infinity()
            : std::ldexp(leading + fraction, std::max(exponent, 1) - 1 + min_exponent - fraction_bits);
    return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
  }
};

/// Rounds by looking the neighbours up in the list of all values.
class ReferenceRounding {
 public:
  explicit ReferenceRounding(Format format) : format_(format) {
    for (std::uint32_t bits = 0; bits < format.infinity(); ++bits)
      values_.push_back(format.Value(bits));
    // Where the next value would be if there were one: rounding to it means infinity.
    values_.push_back(2 * values_.back() - values_[values_.size() - 2]);
  }
  std::uint32_t Round(float value) const {
    const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0;
    const double magnitude = std::fabs(static_cast<double>(value));
    const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude);
    if (above == values_.end()) return sign | format_.infinity();
    const auto upper = static_cast<std::uint32_t>(above - values_.begin());
    if (*above == magnitude || upper == 0) return sign | upper;
    const double to_upper = *above - magnitude;
    const double to_lower = magnitude - values_[upper - 1];
    if (to_upper == to_lower) return sign | (upper % 2 == 0 ? upper : upper - 1);
    return sign | (to_upper < to_lower ? upper : upper - 1);
  }

 private:
  Format format_;
  std::vector<double> values_;
};

constexpr Format kHalfFormat{10, -14};
constexpr Format kBrainFormat{7, -126};

template <typename T>
constexpr Format kFormatOf = std::is_same_v<T, Half> ? kHalfFormat : kBrainFormat;
template <typename T>
std::uint32_t Narrowed(float value) {
  if constexpr (std::is_same_v<T, Half>) return ToHalf(value).bits;
  if constexpr (std::is_same_v<T, BrainFloat>) return ToBrainFloat(value).bits;
}

template <typename T>
class SixteenBitFloat : public testing::Test {
 protected:
  static constexpr Format kFormat = kFormatOf<T>;

  static void ExpectRounded(float value) {
    static const ReferenceRounding reference(kFormat);
    ASSERT_EQ(Narrowed<T>(value), reference.Round(value))
        << std::hexfloat << value << " of bits 0x" << std::hex << std::bit_cast<std::uint32_t>(value);
  }
};
using Formats = testing::Types<Half, BrainFloat>;
TYPED_TEST_SUITE(SixteenBitFloat, Formats);

TYPED_TEST(SixteenBitFloat, EveryValueWidensExactly) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const float wide = ToFloat(TypeParam{static_cast<std::uint16_t>(bits)});
    ASSERT_EQ(std::signbit(wide), bits >> 15 != 0) << std::hex << bits;
    if (this->kFormat.IsNan(bits)) {
      ASSERT_TRUE(std::isnan(wide)) << std::hex << bits;
    } else {
      ASSERT_EQ(static_cast<double>(wide), this->kFormat.Value(bits)) << std::hex << bits;
    }
  }
}

TYPED_TEST(SixteenBitFloat, EveryValueSurvivesTheWayThereAndBack) {
  const std::uint32_t quiet_bit = 1U << (this->kFormat.fraction_bits - 1);
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const std::uint32_t expected = this->kFormat.IsNan(bits) ? bits | quiet_bit : bits;
    ASSERT_EQ(Narrowed<TypeParam>(ToFloat(TypeParam{static_cast<std::uint16_t>(bits)})), expected)
        << std::hex << bits;
  }
}

/// The points at which the result of rounding changes, and the singles next to them on either side.
TYPED_TEST(SixteenBitFloat, RoundsToNearestEvenAroundEveryValueAndEveryMiddle) {
  const float endless = std::numeric_limits<float>::infinity();
  for (std::uint32_t bits = 0; bits < this->kFormat.infinity(); ++bits) {
    const double value = this->kFormat.Value(bits);
    const double step = bits + 1 < this->kFormat.infinity() ? this->kFormat.Value(bits + 1) - value
                                                            : value - this->kFormat.Value(bits - 1);
    for (const double point : {value, value + step / 2}) {
      const auto exact = static_cast<float>(point);
      ASSERT_EQ(static_cast<double>(exact), point);
      for (const float magnitude : {std::nextafter(exact, -endless), exact, std::nextafter(exact, endless)}) {
        ASSERT_NO_FATAL_FAILURE(this->ExpectRounded(magnitude));
        ASSERT_NO_FATAL_FAILURE(this->ExpectRounded(-magnitude));
      }
    }
  }
}

TYPED_TEST(SixteenBitFloat, RoundsRandomSinglesAndTheExtremes) {
  using Limits = std::numeric_limits<float>;
  for (const float value : {Limits::max(), Limits::min(), Limits::denorm_min(), Limits::infinity(),
                            65519.996F, 65520.0F, 65536.0F, 0x1p-24F, 0x1p-25F, 0x1.000002p-25F, 0x1p-26F}) {
    ASSERT_NO_FATAL_FAILURE(this->ExpectRounded(value));
    ASSERT_NO_FATAL_FAILURE(this->ExpectRounded(-value));
  }
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 500'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(value)) continue;
    ASSERT_NO_FATAL_FAILURE(this->ExpectRounded(value));
  }
}

TYPED_TEST(SixteenBitFloat, NansStayNansOfTheirSignAndBecomeQuiet) {
  const std::uint32_t quiet_bit = 1U << (this->kFormat.fraction_bits - 1);
  for (std::uint32_t fraction = 1; fraction < 1U << 23;
       fraction = fraction < 64 ? fraction + 1 : fraction * 2 + 1) {
    for (const std::uint32_t sign : {0U, 0x80000000U}) {
      const std::uint32_t narrow = Narrowed<TypeParam>(std::bit_cast<float>(sign | 0x7F800000U | fraction));
      EXPECT_EQ(narrow, sign >> 16 | this->kFormat.infinity() | quiet_bit |
                            fraction >> (23 - this->kFormat.fraction_bits))
          << std::hex << fraction;
    }
  }
}

}  // namespace
}  // namespace sampan::sixteen_bit_floats_test
