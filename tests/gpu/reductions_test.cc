// Reducing copies on the GPU against the arithmetic of the emulated device: every type, operation, alignment
// and length that the kernel treats differently, and every sixteen-bit float.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "base/platform_bridge.h"
#include "base/reduce/reduce_kernels.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::reductions_test {
namespace {

constexpr auto kOperations = {ReduceOperation::kSum, ReduceOperation::kProduct, ReduceOperation::kMax,
                              ReduceOperation::kMin};

bool IsNan(const std::byte* bits, ReduceElement element) {
  const auto read = [&](auto value) {
    std::memcpy(&value, bits, sizeof(value));
    return value;
  };
  switch (element) {
    case ReduceElement::kHalf:
      return (read(std::uint16_t{}) & 0x7FFF) > 0x7C00;
    case ReduceElement::kBrainFloat:
      return (read(std::uint16_t{}) & 0x7FFF) > 0x7F80;
    case ReduceElement::kFloat:
      return (read(std::uint32_t{}) & 0x7FFFFFFF) > 0x7F800000;
    case ReduceElement::kDouble:
      return (read(std::uint64_t{}) & 0x7FFFFFFFFFFFFFFF) > 0x7FF0000000000000;
    default:
      return false;
  }
}

class Reductions : public CopyTest {
 protected:
  /// On the GPU and on the host; equal to the bit. Of two NaNs a processor may keep either.
  void Compare(const Bytes& left, const Bytes& right, ReduceOperation operation, ReduceElement element,
               std::size_t dst_at = 0, std::size_t src_at = 0) {
    const std::size_t bytes = left.size(), unit = ElementBytes(element);
    GuardedBuffer dst(Place::kDevice, dst_at + bytes), src(Place::kDevice, src_at + bytes);
    Bytes padded_left(dst_at), padded_right(src_at);
    padded_left.insert(padded_left.end(), left.begin(), left.end());
    padded_right.insert(padded_right.end(), right.begin(), right.end());
    dst.Write(padded_left);
    src.Write(padded_right);
    ASSERT_EQ(sampanReduceVector(dst.at(dst_at), src.at(src_at), bytes / unit, operation, element, stream()),
              ACL_SUCCESS);
    Synchronize();
    Bytes expected = left;
    Reduce({expected.data(), right.data(), bytes / unit}, operation, element);
    Bytes found = ReadDevice(dst.at(dst_at), bytes);
    for (std::size_t at = 0; at < bytes; at += unit) {
      const bool both_nan = IsNan(left.data() + at, element) && IsNan(right.data() + at, element);
      if (both_nan && IsNan(found.data() + at, element))
        std::memcpy(found.data() + at, expected.data() + at, unit);
      ASSERT_EQ(std::memcmp(found.data() + at, expected.data() + at, unit), 0)
          << "element " << at / unit << ", type " << static_cast<int>(element) << ", operation "
          << static_cast<int>(operation) << ", at " << dst_at << " and " << src_at;
    }
    std::memcpy(padded_left.data() + dst_at, ReadDevice(dst.at(dst_at), bytes).data(), bytes);
    EXPECT_TRUE(dst.Holds(padded_left)) << "bytes beside the elements";
    EXPECT_TRUE(src.Holds(padded_right)) << "the source";
  }
};

TEST_F(Reductions, EveryTypeAndOperation) {
  for (std::size_t element = 0; element < kReduceElements; ++element) {
    const auto type = static_cast<ReduceElement>(element);
    for (const ReduceOperation operation : kOperations) {
      const std::size_t bytes = (random().Between(1, 40000) + 100000) * ElementBytes(type);
      Compare(random().Fill(bytes), random().Fill(bytes), operation, type);
    }
  }
}

TEST_F(Reductions, EveryAlignmentAndShortLength) {
  for (const ReduceElement type : {ReduceElement::kInt8, ReduceElement::kHalf, ReduceElement::kFloat,
                                   ReduceElement::kUint64, ReduceElement::kDouble}) {
    const std::size_t unit = ElementBytes(type);
    for (const std::size_t dst_at : {0, 4, 8, 1, 15}) {
      for (const std::size_t src_at : {0, 4, 3}) {
        for (const std::size_t count : {1, 2, 3, 5, 16, 17, 1001})
          Compare(random().Fill(count * unit), random().Fill(count * unit), ReduceOperation::kSum, type,
                  dst_at, src_at);
      }
    }
  }
}

TEST_F(Reductions, EverySixteenBitFloat) {
  constexpr std::size_t kValues = 65536;
  std::vector<std::uint16_t> all(kValues);
  for (std::size_t i = 0; i < kValues; ++i)
    all[i] = static_cast<std::uint16_t>(i);
  const auto bytes_of = [](const std::vector<std::uint16_t>& values) {
    Bytes bytes(values.size() * 2);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  };
  for (const ReduceElement type : {ReduceElement::kHalf, ReduceElement::kBrainFloat}) {
    // Zeros, ones, the smallest, the largest, infinities, NaNs; and each value with another one.
    for (const int other : {0x0000, 0x8000, 0x3C00, 0x3F80, 0x0001, 0x8001, 0x0400, 0x7BFF, 0x7F7F, 0x7C00,
                            0xFC00, 0x7F80, 0xFF80, 0x7E01, 0xFFFF}) {
      for (const ReduceOperation operation : kOperations) {
        const Bytes others = bytes_of(std::vector<std::uint16_t>(kValues, static_cast<std::uint16_t>(other)));
        Compare(bytes_of(all), others, operation, type);
        Compare(others, bytes_of(all), operation, type);
      }
    }
    for (const ReduceOperation operation : kOperations)
      Compare(bytes_of(all), random().Fill(kValues * 2), operation, type);
  }
}

TEST_F(Reductions, ALongOneIsWhole) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  Buffer dst(Place::kDevice, kBytes), src(Place::kDevice, kBytes);
  const Bytes left = random().Fill(1 << 20), right = random().Fill(1 << 20);
  for (std::size_t at = 0; at < kBytes; at += left.size()) {
    dst.Write(at, left);
    src.Write(at, right);
  }
  ASSERT_ACL(ACL_SUCCESS, aclrtReduceAsync(dst.data(), src.data(), kBytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                                           ACL_INT32, stream(), nullptr));
  Synchronize();
  Bytes expected = left;
  Reduce({expected.data(), right.data(), left.size() / 4}, ReduceOperation::kSum, ReduceElement::kInt32);
  for (const std::size_t at : {std::size_t{0}, kBytes / 2, kBytes - left.size()})
    EXPECT_EQ(dst.Read(at, left.size()), expected);
}

}  // namespace
}  // namespace sampan::test::reductions_test
