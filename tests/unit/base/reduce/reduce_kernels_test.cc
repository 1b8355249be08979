// Reductions against a scalar reference: every operation, element and level, any alignment, guard bytes
// around.
#include "base/reduce/reduce_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/reduce/sixteen_bit_floats.h"

namespace sampan::reduce_kernels_test {
namespace {

using Operation = ReduceOperation;
using Element = ReduceElement;

constexpr std::byte kGuard{0xA5};
constexpr std::size_t kGuardBytes = 64;
constexpr Operation kOperations[] = {Operation::kSum, Operation::kProduct, Operation::kMax, Operation::kMin};

/// reduce-2, the rule for real numbers: in the type's own precision, -0 below +0, NaN wins.
template <typename T>
T CombineReal(T left, T right, Operation operation) {
  if (operation == Operation::kSum) return left + right;
  if (operation == Operation::kProduct) return left * right;
  if (std::isnan(left) || std::isnan(right)) return std::numeric_limits<T>::quiet_NaN();
  const bool left_less = left < right || (left == right && std::signbit(left) && !std::signbit(right));
  return (operation == Operation::kMin) == left_less ? left : right;
}

template <typename T>
T CombineReference(T left, T right, Operation operation) {
  if constexpr (std::is_same_v<T, Half>) {
    return ToHalf(CombineReal(ToFloat(left), ToFloat(right), operation));
  } else if constexpr (std::is_same_v<T, BrainFloat>) {
    return ToBrainFloat(CombineReal(ToFloat(left), ToFloat(right), operation));
  } else if constexpr (std::is_floating_point_v<T>) {
    return CombineReal(left, right, operation);
  } else {
    // Exact, then cut to the width of the type.
    __extension__ using Exact = __int128;
    const auto a = static_cast<Exact>(left);
    const auto b = static_cast<Exact>(right);
    if (operation == Operation::kSum) return static_cast<T>(a + b);
    if (operation == Operation::kProduct)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    return static_cast<T>((operation == Operation::kMax) == (a > b) ? a : b);
  }
}

template <typename T>
bool IsNan(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BrainFloat>) return std::isnan(ToFloat(value));
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

/// Of a NaN only that it is one: which of two is handed on depends on the processor.
template <typename T>
bool Same(T actual, T expected) {
  return std::memcmp(&actual, &expected, sizeof(T)) == 0 || (IsNan(actual) && IsNan(expected));
}

class ReduceKernels : public testing::TestWithParam<ReduceLevel> {
 protected:
  void SetUp() override {
    if (!ReduceAt(GetParam(), {nullptr, nullptr, 0}, Operation::kSum, Element::kInt8))
      GTEST_SKIP() << "this processor has no such instructions";
  }

  template <typename T>
  static void ExpectReduced(const std::vector<T>& left, const std::vector<T>& right, Operation operation,
                            Element element, std::size_t dst_shift, std::size_t src_shift) {
    const std::size_t bytes = left.size() * sizeof(T);
    std::vector<std::byte> dst(bytes + 2 * kGuardBytes, kGuard);
    std::vector<std::byte> src(bytes + kGuardBytes, kGuard);
    std::byte* const to = dst.data() + dst_shift;
    std::byte* const from = src.data() + src_shift;
    if (bytes != 0) {
      std::memcpy(to, left.data(), bytes);
      std::memcpy(from, right.data(), bytes);
    }
    ASSERT_TRUE(ReduceAt(GetParam(), {to, from, left.size()}, operation, element));
    for (std::size_t i = 0; i < left.size(); ++i) {
      T actual;
      std::memcpy(&actual, to + i * sizeof(T), sizeof(T));
      ASSERT_TRUE(Same(actual, CombineReference(left[i], right[i], operation)))
          << "element " << i << " of " << left.size() << ", operation " << static_cast<int>(operation);
    }
    for (std::size_t i = 0; i < dst.size(); ++i) {
      if (i >= dst_shift && i < dst_shift + bytes) continue;
      ASSERT_EQ(dst[i], kGuard) << "byte " << i << " was overwritten";
    }
  }

  /// Random bits: every kind of float among them.
  template <typename T>
  void ExpectRandomsReduced(Element element) {
    ASSERT_EQ(ElementBytes(element), sizeof(T));
    const std::uint32_t seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", element " << static_cast<int>(element));
    std::mt19937_64 random(seed);
    const auto values = [&](std::size_t count) {
      std::vector<T> made(count);
      for (T& value : made) {
        const std::uint64_t bits = random();
        std::memcpy(&value, &bits, sizeof(T));
      }
      return made;
    };
    for (const Operation operation : kOperations) {
      for (std::size_t count = 0; count < 140; ++count) {
        const std::vector<T> left = values(count);
        ASSERT_NO_FATAL_FAILURE(ExpectReduced(left, values(count), operation, element, random() % kGuardBytes,
                                              random() % kGuardBytes));
      }
      const std::vector<T> left = values(20'011);
      ASSERT_NO_FATAL_FAILURE(ExpectReduced(left, values(left.size()), operation, element, 3, 16));
    }
  }

  template <typename T>
  void ExpectEveryValueReduced(Element element) {
    std::vector<T> every;
    for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits)
      every.push_back({static_cast<std::uint16_t>(bits)});
    std::mt19937 random(std::random_device{}());
    for (const Operation operation : kOperations) {
      // 0, -0, 1, infinity of halves, of brain floats, and some more.
      for (std::uint32_t other :
           {0x0000U, 0x8000U, 0x0001U, 0x3C00U, 0x3F80U, 0x7C00U, 0x7F80U, 0xFF80U, 0x7E00U,
            static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())}) {
        const std::vector<T> others(every.size(), T{static_cast<std::uint16_t>(other)});
        SCOPED_TRACE(testing::Message() << "with 0x" << std::hex << (other & 0xFFFF));
        ASSERT_NO_FATAL_FAILURE(ExpectReduced(every, others, operation, element, 0, 0));
      }
    }
  }
};

TEST_P(ReduceKernels, Integers) {
  ExpectRandomsReduced<std::int8_t>(Element::kInt8);
  ExpectRandomsReduced<std::int16_t>(Element::kInt16);
  ExpectRandomsReduced<std::int32_t>(Element::kInt32);
  ExpectRandomsReduced<std::int64_t>(Element::kInt64);
  ExpectRandomsReduced<std::uint8_t>(Element::kUint8);
  ExpectRandomsReduced<std::uint16_t>(Element::kUint16);
  ExpectRandomsReduced<std::uint32_t>(Element::kUint32);
  ExpectRandomsReduced<std::uint64_t>(Element::kUint64);
}

TEST_P(ReduceKernels, Floats) {
  ExpectRandomsReduced<Half>(Element::kHalf);
  ExpectRandomsReduced<BrainFloat>(Element::kBrainFloat);
  ExpectRandomsReduced<float>(Element::kFloat);
  ExpectRandomsReduced<double>(Element::kDouble);
}

TEST_P(ReduceKernels, EverySixteenBitFloat) {
  ExpectEveryValueReduced<Half>(Element::kHalf);
  ExpectEveryValueReduced<BrainFloat>(Element::kBrainFloat);
}

TEST_P(ReduceKernels, InPlace) {
  std::vector<std::int32_t> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int32_t>(i);
  auto* const memory = reinterpret_cast<std::byte*>(values.data());
  ASSERT_TRUE(ReduceAt(GetParam(), {memory, memory, values.size()}, Operation::kSum, Element::kInt32));
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<std::int32_t>(2 * i));
}

INSTANTIATE_TEST_SUITE_P(Levels, ReduceKernels, testing::Values(ReduceLevel::kPlain, ReduceLevel::kAvx2),
                         [](const auto& level) {
                           return level.param == ReduceLevel::kPlain ? "Plain" : "Avx2";
                         });

TEST(ReduceKernelsBest, AreThoseOfALevel) {
  std::vector<std::uint16_t> best(100), plain(100), src(100);
  std::mt19937 random(7);
  for (std::size_t i = 0; i < src.size(); ++i) {
    best[i] = plain[i] = static_cast<std::uint16_t>(random() & 0xBBFF);
    src[i] = static_cast<std::uint16_t>(random() & 0xBBFF);
  }
  const auto* const from = reinterpret_cast<const std::byte*>(src.data());
  Reduce({reinterpret_cast<std::byte*>(best.data()), from, src.size()}, Operation::kSum, Element::kHalf);
  ASSERT_TRUE(ReduceAt(ReduceLevel::kPlain, {reinterpret_cast<std::byte*>(plain.data()), from, src.size()},
                       Operation::kSum, Element::kHalf));
  EXPECT_EQ(best, plain);
}

}  // namespace
}  // namespace sampan::reduce_kernels_test
