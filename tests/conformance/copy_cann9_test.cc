// The rules of CANN 9 that differ from CANN 8; runs with SAMPAN_PROFILE=ascend910b,cann9.
// Rules of docs/BEHAVIOUR.md: profile-3, rows-4.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_cann9_test {
namespace {

constexpr std::size_t kMaxWidth = 5'000'000;

class Cann9Rows : public CopyTest, public ::testing::WithParamInterface<bool> {
 protected:
  aclError Copy(void* dst, std::size_t dpitch, const void* src, std::size_t spitch, std::size_t width,
                std::size_t height, aclrtMemcpyKind kind) const {
    if (GetParam()) return aclrtMemcpy2dAsync(dst, dpitch, src, spitch, width, height, kind, stream());
    return aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, kind);
  }
};
INSTANTIATE_TEST_SUITE_P(Calls, Cann9Rows, ::testing::Bool(),
                         [](const auto& given) { return std::string(given.param ? "Async" : "Sync"); });

TEST_P(Cann9Rows, WidthHasALimit) {
  GuardedBuffer device(Place::kDevice, kMaxWidth + 1);
  PinnedBuffer host(kMaxWidth + 1);
  const Bytes contents = random().Fill(kMaxWidth);
  host.Write(0, contents);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Copy(device.data(), kMaxWidth + 1, host.data(), kMaxWidth + 1,
                                              kMaxWidth + 1, 1, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(MessageHas("width"));
  EXPECT_TRUE(MessageHas("5000000"));
  EXPECT_TRUE(device.Untouched());
  EXPECT_ACL(ACL_SUCCESS,
             Copy(device.data(), kMaxWidth, host.data(), kMaxWidth, kMaxWidth, 1, ACL_MEMCPY_HOST_TO_DEVICE));
  Synchronize();
  Bytes expected = contents;
  expected.push_back(GuardedBuffer::kBackground);
  EXPECT_TRUE(device.Holds(expected));
}

TEST_P(Cann9Rows, WidthLimitWinsOverTheContext) {
  DeviceBuffer device(16);
  PinnedBuffer host(16);
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpy2d(device.data(), kMaxWidth + 1, host.data(), kMaxWidth + 1, kMaxWidth + 1, 1,
                             ACL_MEMCPY_HOST_TO_DEVICE));
  });
}

class Cann9DeviceRows : public CopyTest {};

TEST_F(Cann9DeviceRows, AsyncCopiesRowsWithinTheDevice) {
  constexpr std::size_t kWidth = 333, kHeight = 41, kFrom = 400, kTo = 512;
  for (const int kind : {1, 2, 3, 4}) {
    SCOPED_TRACE(kind);
    GuardedBuffer src(Place::kDevice, kFrom * kHeight, 1), dst(Place::kDevice, kTo * kHeight, 3);
    const Bytes contents = random().Fill(kFrom * kHeight), before = random().Fill(kTo * kHeight);
    src.Write(contents);
    dst.Write(before);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpy2dAsync(dst.data(), kTo, src.data(), kFrom, kWidth, kHeight, Kind(kind), stream()));
    Synchronize();
    Bytes expected = before;
    for (std::size_t row = 0; row < kHeight; ++row)
      std::memcpy(expected.data() + row * kTo, contents.data() + row * kFrom, kWidth);
    EXPECT_TRUE(dst.Holds(expected));
  }
}

TEST_F(Cann9DeviceRows, AsyncIsQueued) {
  GuardedBuffer src(Place::kDevice, 1000), dst(Place::kDevice, 1000);
  const Bytes contents = random().Fill(1000);
  src.Write(contents);
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(dst.data(), 100, src.data(), 100, 100, 10,
                                             ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
  EXPECT_TRUE(dst.Untouched());
  gate.Open();
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents));
}

TEST_F(Cann9DeviceRows, SyncStillRefuses) {
  GuardedBuffer src(Place::kDevice, 1000), dst(Place::kDevice, 1000);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpy2d(dst.data(), 100, src.data(), 100, 100, 10, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy2d(dst.data(), 100, src.data(), 100, 100, 10, ACL_MEMCPY_DEFAULT));
  EXPECT_TRUE(dst.Untouched());
}

}  // namespace
}  // namespace sampan::test::copy_cann9_test
