// Sizes of data types, conversions of 16-bit floats, data buffers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"

namespace sampan::test::data_types_test {
namespace {

constexpr unsigned kHalves = 0x8000;   // without the sign
constexpr unsigned kLargest = 0x7BFF;  // the largest finite one

/// The value of a non-negative finite half, from the definition of the format.
double ValueOf(unsigned half) {
  const unsigned exponent = half >> 10;
  const double fraction = half & 0x3FF;
  if (exponent == 0) return fraction * std::pow(2.0, -24);
  return (1.0 + fraction / 1024.0) * std::pow(2.0, static_cast<double>(exponent) - 15.0);
}

TEST(DataTypes, EveryFiniteHalfHasItsValueAndComesBack) {
  for (unsigned half = 0; half <= kLargest; ++half) {
    const double value = ValueOf(half);
    ASSERT_EQ(aclFloat16ToFloat(static_cast<aclFloat16>(half)), value) << half;
    ASSERT_EQ(aclFloat16ToFloat(static_cast<aclFloat16>(half | kHalves)), -value) << half;
    ASSERT_EQ(aclFloatToFloat16(static_cast<float>(value)), half);
    ASSERT_EQ(aclFloatToFloat16(static_cast<float>(-value)), half | kHalves);
  }
}

TEST(DataTypes, BetweenTwoHalvesTheNearerIsTakenAndTheEvenOneInTheMiddle) {
  for (unsigned half = 0; half < kLargest; ++half) {
    const auto middle = static_cast<float>((ValueOf(half) + ValueOf(half + 1)) / 2);
    const unsigned even = half % 2 == 0 ? half : half + 1;
    ASSERT_EQ(aclFloatToFloat16(middle), even) << half;
    ASSERT_EQ(aclFloatToFloat16(std::nextafterf(middle, 0.0F)), half) << half;
    ASSERT_EQ(aclFloatToFloat16(std::nextafterf(middle, 1e6F)), half + 1) << half;
  }
}

TEST(DataTypes, WhatAHalfCannotHoldBecomesTheLargest) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {65504.0F, 65505.0F, 65536.0F, 1e30F, infinity}) {
    EXPECT_EQ(aclFloatToFloat16(value), kLargest) << value;
    EXPECT_EQ(aclFloatToFloat16(-value), kLargest | kHalves) << value;
  }
  EXPECT_EQ(aclFloatToFloat16(std::numeric_limits<float>::quiet_NaN()), kLargest);
  EXPECT_EQ(aclFloatToFloat16(1e-30F), 0);
  EXPECT_EQ(aclFloat16ToFloat(0x7C00), 65536.0F);
  EXPECT_EQ(aclFloat16ToFloat(0xFC00), -65536.0F);
}

TEST(DataTypes, HaveTheirSizes) {
  constexpr std::pair<aclDataType, std::size_t> kSizes[] = {
      {ACL_DT_UNDEFINED, 0}, {ACL_FLOAT, 4},  {ACL_FLOAT16, 2}, {ACL_INT8, 1},   {ACL_INT32, 4},
      {ACL_UINT8, 1},        {ACL_INT16, 2},  {ACL_UINT16, 2},  {ACL_UINT32, 4}, {ACL_INT64, 8},
      {ACL_UINT64, 8},       {ACL_DOUBLE, 8}, {ACL_BOOL, 1},    {ACL_STRING, 0}, {ACL_COMPLEX64, 8},
      {ACL_COMPLEX128, 16},  {ACL_BF16, 2},   {ACL_INT4, 1},    {ACL_UINT1, 1},  {ACL_COMPLEX32, 4},
  };
  for (const auto& [type, bytes] : kSizes)
    EXPECT_EQ(aclDataTypeSize(type), bytes) << static_cast<int>(type);
}

std::uint32_t OldSize(const aclDataBuffer* buffer) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return aclGetDataBufferSize(buffer);
#pragma GCC diagnostic pop
}

TEST(DataBuffer, HoldsWhatItWasGiven) {
  int first = 0, second = 0;
  constexpr std::size_t kMoreThan32Bits = (std::size_t{1} << 32) + 5;
  aclDataBuffer* const buffer = aclCreateDataBuffer(&first, sizeof(first));
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), &first);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), sizeof(first));
  EXPECT_ACL(ACL_SUCCESS, aclUpdateDataBuffer(buffer, &second, kMoreThan32Bits));
  EXPECT_EQ(aclGetDataBufferAddr(buffer), &second);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), kMoreThan32Bits);
  EXPECT_EQ(OldSize(buffer), 5U);
  EXPECT_ACL(ACL_SUCCESS, aclDestroyDataBuffer(buffer));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclUpdateDataBuffer(nullptr, &first, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclDestroyDataBuffer(nullptr));
  EXPECT_EQ(aclGetDataBufferAddr(nullptr), nullptr);
  EXPECT_EQ(OldSize(nullptr), 0U);
  EXPECT_EQ(aclGetDataBufferSizeV2(nullptr), 0U);
}

}  // namespace
}  // namespace sampan::test::data_types_test
