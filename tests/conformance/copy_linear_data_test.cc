// Linear copies move exactly the bytes they were asked to: every direction, odd sizes, odd addresses.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_linear_data_test {
namespace {

struct Direction {
  Place from, to;
};

std::ostream& operator<<(std::ostream& out, const Direction& direction) {
  return out << direction.from << "_to_" << direction.to;
}

std::string Name(const ::testing::TestParamInfo<Direction>& given) {
  std::ostringstream name;
  name << given.param;
  return name.str();
}

aclrtMemcpyKind KindOf(const Direction& direction) {
  if (!IsHost(direction.from)) {
    return IsHost(direction.to) ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE;
  }
  return IsHost(direction.to) ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE;
}

class LinearData : public CopyTest, public ::testing::WithParamInterface<Direction> {
 protected:
  bool HostPair() const { return IsHost(GetParam().from) && IsHost(GetParam().to); }

  /// One copy of `bytes` between misaligned addresses, and what else it must leave alone.
  void CopyOnce(bool async, std::size_t bytes, std::size_t src_misalignment, std::size_t dst_misalignment) {
    SCOPED_TRACE(::testing::Message() << (async ? "async " : "sync ") << bytes << " bytes, source +"
                                      << src_misalignment << ", destination +" << dst_misalignment);
    GuardedBuffer src(GetParam().from, bytes, src_misalignment), dst(GetParam().to, bytes, dst_misalignment);
    const Bytes contents = random().Fill(bytes);
    src.Write(contents);
    const aclrtMemcpyKind kind = KindOf(GetParam());
    if (async) {
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst.data(), bytes, src.data(), bytes, kind, stream()));
      Synchronize();
    } else {
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(dst.data(), bytes, src.data(), bytes, kind));
    }
    EXPECT_TRUE(dst.Holds(contents));
    EXPECT_TRUE(src.Holds(contents));
  }

  void CopyBothWays(std::size_t bytes, std::size_t src_misalignment, std::size_t dst_misalignment) {
    CopyOnce(false, bytes, src_misalignment, dst_misalignment);
    if (!HostPair()) CopyOnce(true, bytes, src_misalignment, dst_misalignment);
  }
};

TEST_P(LinearData, EverySmallSize) {
  for (std::size_t bytes = 1; bytes <= 130; ++bytes)
    CopyOnce(!HostPair() && bytes % 2 == 0, bytes, bytes % 7, bytes % 5);
}

TEST_P(LinearData, SizesAroundPagesAndLines) {
  for (const std::size_t around :
       {std::size_t{256}, std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20}) {
    for (const std::size_t bytes : {around - 1, around, around + 1})
      CopyBothWays(bytes, 0, 0);
  }
}

TEST_P(LinearData, UnalignedAddresses) {
  for (const std::size_t src : {0, 1, 31, 33, 63}) {
    for (const std::size_t dst : {0, 1, 15, 32, 61})
      CopyOnce(!HostPair() && (src + dst) % 2 == 0, 4099, src, dst);
  }
}

TEST_P(LinearData, RandomSizes) {
  for (int i = 0; i < 20; ++i)
    CopyBothWays(random().Between(1, 300'000), random().Between(0, 100), random().Between(0, 100));
}

TEST_P(LinearData, MiddleOfAnAllocation) {
  constexpr std::size_t kWhole = 100'000, kFrom = 12'345, kTo = 54'321, kBytes = 33'333;
  GuardedBuffer src(GetParam().from, kWhole), dst(GetParam().to, kWhole);
  const Bytes contents = random().Fill(kWhole), before = random().Fill(kWhole);
  src.Write(contents);
  dst.Write(before);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(dst.at(kTo), kBytes, src.at(kFrom), kBytes, KindOf(GetParam())));
  Bytes expected = before;
  std::memcpy(expected.data() + kTo, contents.data() + kFrom, kBytes);
  EXPECT_TRUE(dst.Holds(expected));
}

constexpr Direction kDirections[] = {
    {Place::kPageable, Place::kDevice},   {Place::kPinned, Place::kDevice},
    {Place::kRegistered, Place::kDevice}, {Place::kDevice, Place::kPageable},
    {Place::kDevice, Place::kPinned},     {Place::kDevice, Place::kRegistered},
    {Place::kDevice, Place::kDevice},     {Place::kPinned, Place::kPageable},
    {Place::kPageable, Place::kPinned},   {Place::kPageable, Place::kPageable},
    {Place::kPinned, Place::kPinned},
};
INSTANTIATE_TEST_SUITE_P(Directions, LinearData, ::testing::ValuesIn(kDirections), Name);

/// The real runtime splits at 64 MiB; the seams must not show.
class LargeLinearData : public CopyTest, public ::testing::WithParamInterface<Direction> {};

TEST_P(LargeLinearData, BeyondSixtyFourMebibytes) {
  constexpr std::size_t kBytes = (std::size_t{64} << 20) + 4097;
  GuardedBuffer src(GetParam().from, kBytes, 5), dst(GetParam().to, kBytes, 9);
  const Bytes contents = random().Fill(kBytes);
  src.Write(contents);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(dst.data(), kBytes, src.data(), kBytes, KindOf(GetParam()), stream()));
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents));
}

constexpr Direction kLargeDirections[] = {{Place::kPinned, Place::kDevice},
                                          {Place::kDevice, Place::kPinned},
                                          {Place::kDevice, Place::kDevice},
                                          {Place::kPageable, Place::kDevice}};
INSTANTIATE_TEST_SUITE_P(Directions, LargeLinearData, ::testing::ValuesIn(kLargeDirections), Name);

class LinearChains : public CopyTest {};

TEST_F(LinearChains, RoundTripThroughTheStreamInOrder) {
  constexpr std::size_t kBytes = 70'001;
  PinnedBuffer src(kBytes);
  DeviceBuffer first(kBytes), second(kBytes);
  GuardedBuffer back(Place::kPinned, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(first.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(second.data(), kBytes, first.data(), kBytes,
                                           ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(back.data(), kBytes, second.data(), kBytes,
                                           ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  Synchronize();
  EXPECT_TRUE(back.Holds(contents));
}

TEST_F(LinearChains, LaterCopiesOfAStreamWin) {
  constexpr std::size_t kBytes = 4096;
  constexpr std::size_t kCopies = 50;
  DeviceBuffer device(kBytes);
  PinnedBuffer src(kBytes * kCopies);
  const Bytes contents = random().Fill(kBytes * kCopies);
  src.Write(0, contents);
  for (std::size_t i = 0; i < kCopies; ++i) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.data(), kBytes, src.at(i * kBytes), kBytes,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  }
  Synchronize();
  EXPECT_TRUE(SameBytes({contents.data() + (kCopies - 1) * kBytes, kBytes}, device.Read(0, kBytes)));
}

/// copy-11: what such a copy writes is not defined, but it writes its destination alone.
TEST_F(LinearChains, OperandsThatOverlapAreNotRefused) {
  constexpr std::size_t kBytes = 70'001, kShift = 64;
  DeviceBuffer device(kBytes + kShift + 1);
  device.Write(0, Bytes(kBytes + kShift + 1, std::byte{0x5A}));
  for (const auto& [dst, src] : {std::pair{kShift, std::size_t{0}}, {std::size_t{0}, kShift}}) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.at(dst), kBytes, device.at(src), kBytes,
                                             ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
    Synchronize();
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpy(device.at(dst), kBytes, device.at(src), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  }
  EXPECT_EQ(device.Read(kBytes + kShift, 1), Bytes(1, std::byte{0x5A}));
}

}  // namespace
}  // namespace sampan::test::copy_linear_data_test
