// The argument checks of aclrtMemcpy2d with its asynchronous twin, in their order.
// Rules of docs/BEHAVIOUR.md: profile-2, rows-1, rows-3, rows-4, rows-5.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_rows_rules_test {
namespace {

constexpr std::size_t kPitch = 128, kWidth = 100, kHeight = 4, kExtent = kPitch * kHeight;
constexpr std::size_t kMaxRows = 5'242'880;

struct RowsArguments {
  void* dst = nullptr;
  std::size_t dpitch = kPitch;
  const void* src = nullptr;
  std::size_t spitch = kPitch, width = kWidth, height = kHeight;
  int kind = ACL_MEMCPY_HOST_TO_DEVICE;
};

/// Both calls on the same arguments.
class AttachedRowsRules : public CopyTest, public ::testing::WithParamInterface<bool> {
 protected:
  static bool async() { return GetParam(); }
  static aclError Copy(const RowsArguments& with, aclrtStream on) {
    if (async()) {
      return aclrtMemcpy2dAsync(with.dst, with.dpitch, with.src, with.spitch, with.width, with.height,
                                Kind(with.kind), on);
    }
    return aclrtMemcpy2d(with.dst, with.dpitch, with.src, with.spitch, with.width, with.height,
                         Kind(with.kind));
  }
  aclError Copy(const RowsArguments& with) const { return Copy(with, stream()); }
};

INSTANTIATE_TEST_SUITE_P(Calls, AttachedRowsRules, ::testing::Bool(),
                         [](const auto& given) { return std::string(given.param ? "Async" : "Sync"); });

TEST_P(AttachedRowsRules, NothingIsLookedAtWhenThereIsNothingToCopy) {
  const aclrtStream dead = DeadStream();
  EXPECT_ACL(ACL_SUCCESS, Copy({.dpitch = 0, .spitch = 0, .width = 0, .kind = INT32_MAX}, dead));
  EXPECT_ACL(ACL_SUCCESS, Copy({.dpitch = 0, .spitch = 0, .height = 0, .kind = INT32_MAX}, dead));
  EXPECT_ACL(ACL_SUCCESS, Copy({.width = 0, .height = SIZE_MAX}, dead));
  OnNewThread([] { EXPECT_ACL(ACL_SUCCESS, Copy({.width = 0, .height = 0}, nullptr)); });
}

TEST_P(AttachedRowsRules, NullWinsOverPitchAndKind) {
  PinnedBuffer host(kExtent);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Copy({.dst = nullptr, .src = nullptr, .width = kPitch + 1, .kind = 9}));
  EXPECT_TRUE(MessageHas("dst"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             Copy({.dst = host.data(), .src = nullptr, .width = kPitch + 1, .kind = 9}));
  EXPECT_TRUE(MessageHas("src"));
}

TEST_P(AttachedRowsRules, PitchWinsOverKind) {
  DeviceBuffer device(kExtent);
  PinnedBuffer host(kExtent);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             Copy({.dst = device.data(), .dpitch = kWidth - 1, .src = host.data(), .kind = 9}));
  EXPECT_TRUE(MessageHas("pitch"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Copy({.dst = device.data(), .src = host.data(), .spitch = kWidth - 1}));
  EXPECT_TRUE(MessageHas("spitch"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Copy({.dst = device.data(), .dpitch = kWidth - 1, .src = host.data()}));
  EXPECT_TRUE(MessageHas("dpitch"));
}

TEST_P(AttachedRowsRules, PitchWinsOverHeight) {
  DeviceBuffer device(kExtent);
  PinnedBuffer host(kExtent);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             Copy({.dst = device.data(), .dpitch = kWidth - 1, .src = host.data(), .height = kMaxRows + 1}));
}

TEST_P(AttachedRowsRules, KindsOutsideOneToFourAreRefused) {
  DeviceBuffer device(kExtent);
  PinnedBuffer host(kExtent);
  for (const int kind : {-1, 0, 5, 6, 7, 8, INT32_MAX}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Copy({.dst = device.data(), .src = host.data(), .kind = kind}))
        << "kind " << kind;
    EXPECT_TRUE(MessageHas("kind"));
  }
}

TEST_P(AttachedRowsRules, KindWinsOverHeightAndContext) {
  DeviceBuffer device(kExtent);
  PinnedBuffer host(kExtent);
  const RowsArguments arguments = {
      .dst = device.data(), .src = host.data(), .height = kMaxRows + 1, .kind = ACL_MEMCPY_HOST_TO_HOST};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Copy(arguments));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Copy(arguments, nullptr)); });
}

TEST_P(AttachedRowsRules, MoreRowsThanTheLimitAreRefused) {
  DeviceBuffer device(kExtent);
  PinnedBuffer host(kExtent);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Copy({.dst = device.data(),
                                               .dpitch = 1,
                                               .src = host.data(),
                                               .spitch = 1,
                                               .width = 1,
                                               .height = kMaxRows + 1}));
  EXPECT_TRUE(MessageHas("height"));
  EXPECT_TRUE(MessageHas("5242881"));
}

TEST_P(AttachedRowsRules, AsManyRowsAsTheLimitAreTaken) {
  GuardedBuffer device(Place::kDevice, kMaxRows);
  PinnedBuffer host(kMaxRows);
  const Bytes contents = random().Fill(kMaxRows);
  host.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS, Copy({.dst = device.data(),
                                .dpitch = 1,
                                .src = host.data(),
                                .spitch = 1,
                                .width = 1,
                                .height = kMaxRows}));
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
}

TEST_P(AttachedRowsRules, WidthEqualToBothPitchesIsTaken) {
  GuardedBuffer device(Place::kDevice, kExtent);
  PinnedBuffer host(kExtent);
  const Bytes contents = random().Fill(kExtent);
  host.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS, Copy({.dst = device.data(), .src = host.data(), .width = kPitch}));
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
}

TEST_P(AttachedRowsRules, HostPairsAreRefused) {
  GuardedBuffer pinned(Place::kPinned, kExtent), pageable(Place::kPageable, kExtent);
  PinnedBuffer other(kExtent);
  PageableBuffer other_pageable(kExtent);
  for (const int kind : {1, 2, 4}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Copy({.dst = pinned.data(), .src = other.data(), .kind = kind}));
  }
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             Copy({.dst = pageable.data(), .src = other_pageable.data(), .kind = ACL_MEMCPY_DEFAULT}));
  Synchronize();
  EXPECT_TRUE(pinned.Untouched());
  EXPECT_TRUE(pageable.Untouched());
}

TEST_P(AttachedRowsRules, PageableConflictsAreRefused) {
  GuardedBuffer device(Place::kDevice, kExtent), pageable(Place::kPageable, kExtent);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             Copy({.dst = device.data(), .src = pageable.data(), .kind = ACL_MEMCPY_DEVICE_TO_HOST}));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             Copy({.dst = pageable.data(), .src = device.data(), .kind = ACL_MEMCPY_HOST_TO_DEVICE}));
  EXPECT_TRUE(device.Untouched());
  EXPECT_TRUE(pageable.Untouched());
}

TEST_P(AttachedRowsRules, PinnedDirectionsAreCorrected) {
  for (const int kind : {1, 2, 4}) {
    GuardedBuffer device(Place::kDevice, kExtent), back(Place::kPinned, kExtent);
    PinnedBuffer src(kExtent);
    const Bytes contents = random().Fill(kExtent);
    src.Write(0, contents);
    EXPECT_ACL(ACL_SUCCESS, Copy({.dst = device.data(), .src = src.data(), .width = kPitch, .kind = kind}));
    EXPECT_ACL(ACL_SUCCESS, Copy({.dst = back.data(), .src = device.data(), .width = kPitch, .kind = kind}));
    Synchronize();
    EXPECT_TRUE(device.Holds(contents));
    EXPECT_TRUE(back.Holds(contents));
  }
}

TEST_P(AttachedRowsRules, Cann8RefusesDeviceToDevice) {
  GuardedBuffer dst(Place::kDevice, kExtent);
  DeviceBuffer src(kExtent);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             Copy({.dst = dst.data(), .src = src.data(), .kind = ACL_MEMCPY_DEVICE_TO_DEVICE}));
  for (const int kind : {ACL_MEMCPY_DEFAULT, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Copy({.dst = dst.data(), .src = src.data(), .kind = kind}))
        << "kind " << kind;
  }
  Synchronize();
  EXPECT_TRUE(dst.Untouched());
}

TEST_P(AttachedRowsRules, Cann8HasNoLimitOfWidth) {
  constexpr std::size_t kWide = 5'000'001;
  GuardedBuffer device(Place::kDevice, kWide);
  PinnedBuffer host(kWide);
  const Bytes contents = random().Fill(kWide);
  host.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS, Copy({.dst = device.data(),
                                .dpitch = kWide,
                                .src = host.data(),
                                .spitch = kWide,
                                .width = kWide,
                                .height = 1}));
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
}

TEST_P(AttachedRowsRules, PitchesHaveNoLimit) {
  constexpr std::size_t kHuge = std::size_t{1} << 46;
  GuardedBuffer device(Place::kDevice, kWidth);
  PinnedBuffer host(kWidth);
  const Bytes contents = random().Fill(kWidth);
  host.Write(0, contents);
  EXPECT_ACL(
      ACL_SUCCESS,
      Copy({.dst = device.data(), .dpitch = kHuge, .src = host.data(), .spitch = SIZE_MAX, .height = 1}));
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
}

TEST_P(AttachedRowsRules, EqualPointersAreNoShortCut) {
  GuardedBuffer pinned(Place::kPinned, kExtent);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             Copy({.dst = pinned.data(), .src = pinned.data(), .kind = ACL_MEMCPY_DEFAULT}));
}

class AttachedRowsContext : public CopyTest {};

TEST_F(AttachedRowsContext, SyncMissesItAfterTheHeight) {
  DeviceBuffer device(kExtent);
  PinnedBuffer host(kExtent);
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpy2d(device.data(), 1, host.data(), 1, 1, kMaxRows + 1, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemcpy2d(device.data(), kPitch, host.data(), kPitch, kWidth,
                                                        kHeight, ACL_MEMCPY_HOST_TO_DEVICE));
    // Missed before the direction is corrected.
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               aclrtMemcpy2d(host.data(), kPitch, host.data(), kPitch, kWidth, kHeight, ACL_MEMCPY_DEFAULT));
  });
}

TEST_F(AttachedRowsContext, Cann8SyncRefusesDeviceToDeviceBeforeItIsMissed) {
  DeviceBuffer device(kExtent), other(kExtent);
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemcpy2d(device.data(), kPitch, other.data(), kPitch,
                                                               kWidth, kHeight, ACL_MEMCPY_DEVICE_TO_DEVICE));
  });
}

TEST_F(AttachedRowsContext, AsyncWithoutOneHasNoDefaultStream) {
  DeviceBuffer device(kExtent);
  PinnedBuffer host(kExtent);
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpy2dAsync(device.data(), kPitch, host.data(), kPitch, kWidth, kHeight,
                                  ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  });
}

TEST_F(AttachedRowsContext, AsyncStreamHandleWinsOverHeight) {
  DeviceBuffer device(kExtent);
  PinnedBuffer host(kExtent);
  const aclrtStream dead = DeadStream();
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemcpy2dAsync(device.data(), 1, host.data(), 1, 1,
                                                             kMaxRows + 1, ACL_MEMCPY_HOST_TO_DEVICE, dead));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy2dAsync(device.data(), kPitch, host.data(), kPitch, kWidth,
                                                         kHeight, ACL_MEMCPY_HOST_TO_HOST, dead));
}

TEST_F(AttachedRowsContext, AsyncForeignStreamIsRefusedLast) {
  ForeignStream foreign;
  GuardedBuffer device(Place::kDevice, kExtent);
  PinnedBuffer pinned(kExtent), other(kExtent);
  PageableBuffer pageable(kExtent);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy2dAsync(pinned.data(), kPitch, other.data(), kPitch,
                                                            kWidth, kHeight, ACL_MEMCPY_DEFAULT, foreign));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT,
             aclrtMemcpy2dAsync(device.data(), kPitch, pinned.data(), kPitch, kWidth, kHeight,
                                ACL_MEMCPY_HOST_TO_DEVICE, foreign));
  EXPECT_TRUE(device.Untouched());
  // Pageable memory is copied before the call returns, whatever the stream's context.
  const Bytes contents = random().Fill(kExtent);
  pageable.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(device.data(), kPitch, pageable.data(), kPitch, kWidth, kHeight,
                                             ACL_MEMCPY_HOST_TO_DEVICE, foreign));
  const Bytes row(contents.begin(), contents.begin() + static_cast<std::ptrdiff_t>(kWidth));
  EXPECT_EQ(ReadDevice(device.data(), kWidth), row);
}

}  // namespace
}  // namespace sampan::test::copy_rows_rules_test
