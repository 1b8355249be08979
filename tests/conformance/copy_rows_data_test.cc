// 2D copies move the rows they were asked to; the gaps between them stay as they were.
// Rules of docs/BEHAVIOUR.md: rows-2, rows-6.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_rows_data_test {
namespace {

struct Shape {
  std::size_t width, height, src_pitch, dst_pitch;
  std::size_t src_bytes() const { return src_pitch * (height - 1) + width; }
  std::size_t dst_bytes() const { return dst_pitch * (height - 1) + width; }
};

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.width << " x " << shape.height << ", pitches " << shape.src_pitch << " -> "
             << shape.dst_pitch;
}

struct Direction {
  const char* name;
  Place from, to;
  bool async;
};

std::ostream& operator<<(std::ostream& out, const Direction& direction) {
  return out << direction.name;
}

class AttachedRowsData : public CopyTest, public ::testing::WithParamInterface<Direction> {
 protected:
  aclrtMemcpyKind kind() const {
    return GetParam().to == Place::kDevice ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  }

  aclError Copy(void* dst, const void* src, const Shape& shape) const {
    if (GetParam().async) {
      return aclrtMemcpy2dAsync(dst, shape.dst_pitch, src, shape.src_pitch, shape.width, shape.height, kind(),
                                stream());
    }
    return aclrtMemcpy2d(dst, shape.dst_pitch, src, shape.src_pitch, shape.width, shape.height, kind());
  }

  /// Memory ends with the last row's last byte: a copy may not touch the gap behind it.
  void CopyOnce(const Shape& shape, std::size_t src_misalignment = 0, std::size_t dst_misalignment = 0) {
    SCOPED_TRACE(::testing::Message()
                 << shape << ", misaligned by " << src_misalignment << ", " << dst_misalignment);
    GuardedBuffer src(GetParam().from, shape.src_bytes(), src_misalignment);
    GuardedBuffer dst(GetParam().to, shape.dst_bytes(), dst_misalignment);
    const Bytes contents = random().Fill(shape.src_bytes()), before = random().Fill(shape.dst_bytes());
    src.Write(contents);
    dst.Write(before);
    EXPECT_ACL(ACL_SUCCESS, Copy(dst.data(), src.data(), shape));
    if (GetParam().async) Synchronize();
    Bytes expected = before;
    for (std::size_t row = 0; row < shape.height; ++row) {
      std::memcpy(expected.data() + row * shape.dst_pitch, contents.data() + row * shape.src_pitch,
                  shape.width);
    }
    EXPECT_TRUE(dst.Holds(expected));
    EXPECT_TRUE(src.Holds(contents));
  }
};

TEST_P(AttachedRowsData, OddPitches) {
  CopyOnce({.width = 1, .height = 1, .src_pitch = 1, .dst_pitch = 1});
  CopyOnce({.width = 1, .height = 1000, .src_pitch = 3, .dst_pitch = 7});
  CopyOnce({.width = 17, .height = 63, .src_pitch = 31, .dst_pitch = 19});
  CopyOnce({.width = 100, .height = 3, .src_pitch = 101, .dst_pitch = 4097});
  CopyOnce({.width = 1025, .height = 65, .src_pitch = 1027, .dst_pitch = 1031}, 13, 1);
}

TEST_P(AttachedRowsData, PagePitches) {
  CopyOnce({.width = 4096, .height = 33, .src_pitch = 4096, .dst_pitch = 8192});
  CopyOnce({.width = 4096, .height = 33, .src_pitch = 8192, .dst_pitch = 4096});
  CopyOnce({.width = 512, .height = 17, .src_pitch = 65536, .dst_pitch = 4096});
  CopyOnce({.width = 4095, .height = 9, .src_pitch = 4096, .dst_pitch = 4096}, 64, 32);
}

TEST_P(AttachedRowsData, ContiguousRows) {
  CopyOnce({.width = 7, .height = 5, .src_pitch = 7, .dst_pitch = 7});
  CopyOnce({.width = 1000, .height = 1000, .src_pitch = 1000, .dst_pitch = 1000}, 1, 2);
}

TEST_P(AttachedRowsData, OneSideContiguous) {
  CopyOnce({.width = 333, .height = 77, .src_pitch = 333, .dst_pitch = 1000});
  CopyOnce({.width = 333, .height = 77, .src_pitch = 1000, .dst_pitch = 333});
}

TEST_P(AttachedRowsData, LongRows) {
  CopyOnce({.width = (std::size_t{2} << 20) + 3,
            .height = 3,
            .src_pitch = (std::size_t{2} << 20) + 3,
            .dst_pitch = (std::size_t{2} << 20) + 64});
}

TEST_P(AttachedRowsData, ManyShortRows) {
  CopyOnce({.width = 3, .height = 50'000, .src_pitch = 5, .dst_pitch = 4});
}

/// Little to copy, but so many lines to touch that several engines may share it.
TEST_P(AttachedRowsData, ShortRowsFarApart) {
  CopyOnce({.width = 17, .height = 6000, .src_pitch = 1000, .dst_pitch = 17}, 1, 3);
  CopyOnce({.width = 17, .height = 6000, .src_pitch = 17, .dst_pitch = 333});
}

TEST_P(AttachedRowsData, RandomShapes) {
  for (int i = 0; i < 20; ++i) {
    const std::size_t width = random().Between(1, 3000);
    CopyOnce({.width = width,
              .height = random().Between(1, 60),
              .src_pitch = width + random().Between(0, 2000),
              .dst_pitch = width + random().Between(0, 2000)},
             random().Between(0, 64), random().Between(0, 64));
  }
}

TEST_P(AttachedRowsData, BlocksOfACacheWithAMegabytePitch) {
  constexpr std::size_t kDevicePitch = (std::size_t{1} << 20) + (std::size_t{128} << 10), kWidth = 16'384;
  const bool up = GetParam().to == Place::kDevice;
  CopyOnce({.width = kWidth,
            .height = 9,
            .src_pitch = up ? kWidth : kDevicePitch,
            .dst_pitch = up ? kDevicePitch : kWidth});
}

INSTANTIATE_TEST_SUITE_P(
    Directions, AttachedRowsData,
    ::testing::Values(Direction{"PinnedToDeviceSync", Place::kPinned, Place::kDevice, false},
                      Direction{"PageableToDeviceSync", Place::kPageable, Place::kDevice, false},
                      Direction{"DeviceToPinnedSync", Place::kDevice, Place::kPinned, false},
                      Direction{"DeviceToPageableSync", Place::kDevice, Place::kPageable, false},
                      Direction{"PinnedToDeviceAsync", Place::kPinned, Place::kDevice, true},
                      Direction{"RegisteredToDeviceAsync", Place::kRegistered, Place::kDevice, true},
                      Direction{"PageableToDeviceAsync", Place::kPageable, Place::kDevice, true},
                      Direction{"DeviceToPinnedAsync", Place::kDevice, Place::kPinned, true},
                      Direction{"DeviceToPageableAsync", Place::kDevice, Place::kPageable, true}),
    [](const auto& given) { return given.param.name; });

/// The last byte is at pitch * (height - 1) + width.
class AttachedRowsExtent : public CopyTest, public ::testing::WithParamInterface<bool> {
 protected:
  aclError Copy(void* dst, std::size_t dpitch, const void* src, std::size_t spitch, std::size_t width,
                std::size_t height, aclrtMemcpyKind kind) const {
    if (GetParam()) return aclrtMemcpy2dAsync(dst, dpitch, src, spitch, width, height, kind, stream());
    return aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, kind);
  }
};

INSTANTIATE_TEST_SUITE_P(Calls, AttachedRowsExtent, ::testing::Bool(),
                         [](const auto& given) { return std::string(given.param ? "Async" : "Sync"); });

TEST_P(AttachedRowsExtent, ToTheLastByteIsTaken) {
  constexpr std::size_t kPitch = 4096, kWidth = 96, kHeight = 5, kBytes = kPitch * (kHeight - 1) + kWidth;
  DeviceBuffer device(kBytes);
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_SUCCESS,
             Copy(device.data(), kPitch, host.data(), kPitch, kWidth, kHeight, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_SUCCESS,
             Copy(host.data(), kPitch, device.data(), kPitch, kWidth, kHeight, ACL_MEMCPY_DEVICE_TO_HOST));
  Synchronize();
}

TEST_P(AttachedRowsExtent, OneRowTooManyIsRefused) {
  constexpr std::size_t kPitch = 4096, kWidth = 96, kHeight = 5, kBytes = kPitch * (kHeight - 1) + kWidth;
  DeviceBuffer device(kBytes), large_device(2 * kBytes);
  PinnedBuffer host(kBytes), large_host(2 * kBytes);
  for (const auto& [dst, src] : {std::tuple<void*, void*>{device.data(), large_host.data()},
                                 std::tuple<void*, void*>{large_device.data(), host.data()}}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               Copy(dst, kPitch, src, kPitch, kWidth, kHeight + 1, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_TRUE(MessageHas(Hex(dst == device.data() ? dst : src)));
  }
  Synchronize();
}

TEST_P(AttachedRowsExtent, OverflowIsRefused) {
  constexpr std::size_t kWidth = 96;
  DeviceBuffer device(4096);
  PinnedBuffer host(4096);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Copy(device.data(), std::size_t{1} << 63, host.data(), kWidth,
                                              kWidth, 3, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             Copy(device.data(), kWidth, host.data(), SIZE_MAX, kWidth, 2, ACL_MEMCPY_HOST_TO_DEVICE));
  Synchronize();
}

}  // namespace
}  // namespace sampan::test::copy_rows_data_test
