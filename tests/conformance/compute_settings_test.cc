// Settings for compute: remembered, read back, and checked in the documented order.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/device_fixture.h"
#include "tests/support/stream.h"
#include "tests/support/unlisted.h"

namespace sampan::test::compute_settings_test {
namespace {

constexpr std::int32_t kNoDevice = 4711;
constexpr std::uint64_t kUnitUs = 4'294'967, kMaxUs = 254 * kUnitUs;
const aclrtStream kForged = reinterpret_cast<aclrtStream>(0x5EED);

using ComputeSettings = DeviceTest;

// ---- time limits (settings-1, settings-2) ----

TEST_F(ComputeSettings, LimitsOfOperatorsAreRoundedUpToWholeUnits) {
  std::uint64_t unit = 0, actual = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetOpTimeOutInterval(&unit));
  EXPECT_EQ(unit, kUnitUs);
  const std::uint64_t cases[][2] = {
      {1, kUnitUs},     {kUnitUs, kUnitUs},   {kUnitUs + 1, 2 * kUnitUs}, {547'000'000, 128 * kUnitUs},
      {kMaxUs, kMaxUs}, {kMaxUs + 1, kMaxUs}, {UINT64_MAX, kMaxUs},       {0, kMaxUs}};
  for (const auto& [asked, expected] : cases) {
    actual = 0;
    ASSERT_ACL(ACL_SUCCESS, aclrtSetOpExecuteTimeOutV2(asked, &actual)) << asked;
    EXPECT_EQ(actual, expected) << asked;
    std::uint32_t milliseconds = 0;
    ASSERT_ACL(ACL_SUCCESS, aclrtGetOpExecuteTimeout(&milliseconds));
    EXPECT_EQ(milliseconds, expected / 1000) << asked;
  }
}

TEST_F(ComputeSettings, TheOlderCallSetsTheSameLimitInSeconds) {
  std::uint32_t milliseconds = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetOpExecuteTimeOut(547));
  ASSERT_ACL(ACL_SUCCESS, aclrtGetOpExecuteTimeout(&milliseconds));
  EXPECT_EQ(milliseconds, 128 * kUnitUs / 1000);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetOpExecuteTimeOut(0));
  ASSERT_ACL(ACL_SUCCESS, aclrtGetOpExecuteTimeout(&milliseconds));
  EXPECT_EQ(milliseconds, kMaxUs / 1000);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetOpExecuteTimeOutWithMs(500));
  ASSERT_ACL(ACL_SUCCESS, aclrtGetOpExecuteTimeout(&milliseconds));
  EXPECT_EQ(milliseconds, kMaxUs / 1000) << "a refused call changed it";
}

TEST_F(ComputeSettings, LimitsOfOperatorsCheckTheirArguments) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetOpTimeOutInterval(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetOpExecuteTimeout(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetOpExecuteTimeOutV2(1, nullptr));
  OnNewThread([] {
    std::uint64_t actual = 7;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetOpExecuteTimeOutV2(1, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetOpExecuteTimeOutV2(1, &actual));
    EXPECT_EQ(actual, 7U);
  });
}

/// The limit belongs to the wait: set before it, it fails the stream; set after it, it does not.
TEST_F(ComputeSettings, LimitOfWaitsHoldsForWaitsQueuedAfterwards) {
  Stream slow, waiter;
  Event event;
  {
    Gate gate(slow);
    ASSERT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, slow));
    ASSERT_ACL(ACL_SUCCESS, aclrtSetOpWaitTimeout(1));
    ASSERT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiter, event));
    ASSERT_ACL(ACL_SUCCESS, aclrtSetOpWaitTimeout(0));
    EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(waiter));
    EXPECT_TRUE(MessageHas("time limit of 1 s"));
    EXPECT_FALSE(gate.passed());
    ASSERT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiter, event));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(waiter));
}

// ---- floating-point modes (settings-3, settings-4) ----

TEST_F(ComputeSettings, TheSaturationModeIsOneValueForTheProcess) {
  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
  OnNewThread([&] { EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceSatMode(&mode)); });
  EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_SATURATION);
  OnNewThread([] { EXPECT_ACL(ACL_SUCCESS, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN)); });
  ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceSatMode(&mode));
  EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_INFNAN);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceSatMode(Unlisted<aclrtFloatOverflowMode>(3)));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceSatMode(nullptr));
  ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceSatMode(&mode));
  EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_INFNAN);
}

TEST(ComputeSettingsAtFirst, ModesAndFeaturesAreThoseOfTheChip) {
  if (DoneInChild()) return;
  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
  std::int32_t inf_nan = -1;
  std::uint32_t milliseconds = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceSatMode(&mode));
  EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_INFNAN);
  ASSERT_ACL(ACL_SUCCESS, aclGetCannAttribute(ACL_CANN_ATTR_INF_NAN, &inf_nan));
  EXPECT_EQ(inf_nan, 1);
  ASSERT_ACL(ACL_SUCCESS, aclrtGetOpExecuteTimeout(&milliseconds));
  EXPECT_EQ(milliseconds, kMaxUs / 1000);
}

TEST(ComputeSettingsAtFirst, OlderChipsOnlySaturate) {
  if (DoneInChild({{"SAMPAN_PROFILE", "ascend310-rc"}, {"SAMPAN_BACKEND", std::nullopt}})) return;
  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
  std::int32_t value = -1;
  std::uint32_t flag = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceSatMode(&mode));
  EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_SATURATION);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
  for (const aclCannAttr each : {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16}) {
    ASSERT_ACL(ACL_SUCCESS, aclGetCannAttribute(each, &value));
    EXPECT_EQ(value, 0) << each;
  }
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetStreamOverflowSwitch(nullptr, 1));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtGetStreamOverflowSwitch(nullptr, &flag));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCmoAsync(&value, 4, ACL_RT_CMO_TYPE_PREFETCH, nullptr));
  aclrtErrorInfo info{};
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtGetErrorVerbose(kNoDevice, &info));
}

TEST_F(ComputeSettings, EachStreamHasItsOverflowSwitch) {
  Stream first, second;
  std::uint32_t flag = 7;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetStreamOverflowSwitch(first, &flag));
  EXPECT_EQ(flag, 0U);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetStreamOverflowSwitch(first, 1));
  ASSERT_ACL(ACL_SUCCESS, aclrtGetStreamOverflowSwitch(first, &flag));
  EXPECT_EQ(flag, 1U);
  ASSERT_ACL(ACL_SUCCESS, aclrtGetStreamOverflowSwitch(second, &flag));
  EXPECT_EQ(flag, 0U);
  aclrtStreamAttrValue value{};
  ASSERT_ACL(ACL_SUCCESS, aclrtGetStreamAttribute(first, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value));
  EXPECT_EQ(value.overflowSwitch, 1U) << "the attribute is the same switch";
  ASSERT_ACL(ACL_SUCCESS, aclrtSetStreamOverflowSwitch(nullptr, 1));
  ASSERT_ACL(ACL_SUCCESS, aclrtGetStreamOverflowSwitch(nullptr, &flag));
  EXPECT_EQ(flag, 1U);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetStreamOverflowSwitch(nullptr, 0));
}

TEST_F(ComputeSettings, TheOverflowSwitchChecksItsArguments) {
  ForeignStream foreign;
  std::uint32_t flag = 7;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetStreamOverflowSwitch(kForged, 2));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamOverflowSwitch(kForged, 1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSetStreamOverflowSwitch(foreign, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetStreamOverflowSwitch(kForged, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtGetStreamOverflowSwitch(kForged, &flag));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtGetStreamOverflowSwitch(foreign, &flag));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetStreamOverflowSwitch(nullptr, 1));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetStreamOverflowSwitch(nullptr, &flag));
  });
  EXPECT_EQ(flag, 7U);
}

// ---- limits of cores (settings-5) ----

std::uint32_t ThreadCores(aclrtDevResLimitType type = ACL_RT_DEV_RES_CUBE_CORE) {
  std::uint32_t value = 4711;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetResInCurrentThread(type, &value));
  return value;
}
std::uint32_t StreamCores(aclrtStream stream, aclrtDevResLimitType type = ACL_RT_DEV_RES_CUBE_CORE) {
  std::uint32_t value = 4711;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamResLimit(stream, type, &value));
  return value;
}
std::uint32_t DeviceCores(aclrtDevResLimitType type = ACL_RT_DEV_RES_CUBE_CORE, std::int32_t device = 0) {
  std::uint32_t value = 4711;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceResLimit(device, type, &value));
  return value;
}

struct CoreLimits : DeviceTest {
  void SetUp() override {
    DeviceTest::SetUp();
    ASSERT_ACL(ACL_SUCCESS, aclrtResetDeviceResLimit(0));
    std::int64_t cubes = 0;
    ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &cubes));
    chip_cubes = static_cast<std::uint32_t>(cubes);
  }
  std::uint32_t chip_cubes = 0;
};

TEST_F(CoreLimits, OfTheProcess) {
  const std::uint32_t vectors = DeviceCores(ACL_RT_DEV_RES_VECTOR_CORE);
  EXPECT_EQ(DeviceCores(), chip_cubes);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 5));
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 3));
  EXPECT_EQ(DeviceCores(), 3U);
  EXPECT_EQ(DeviceCores(ACL_RT_DEV_RES_VECTOR_CORE), vectors) << "the kinds are apart";
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 0));
  EXPECT_EQ(DeviceCores(), 0U);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, chip_cubes + 1));
  EXPECT_EQ(DeviceCores(), 0U);
  ASSERT_ACL(ACL_SUCCESS, aclrtResetDeviceResLimit(0));
  EXPECT_EQ(DeviceCores(), chip_cubes);
}

TEST_F(CoreLimits, OfAStreamComeBeforeThoseOfTheProcess) {
  Stream stream;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 2));
  EXPECT_EQ(StreamCores(stream), 2U);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, 4));
  EXPECT_EQ(StreamCores(stream), 4U) << "a stream may have more than the process";
  EXPECT_EQ(StreamCores(nullptr), 2U);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, chip_cubes + 1));
  ASSERT_ACL(ACL_SUCCESS, aclrtResetStreamResLimit(stream));
  EXPECT_EQ(StreamCores(stream), 2U);
  ASSERT_ACL(ACL_SUCCESS, aclrtResetDeviceResLimit(0));
  EXPECT_EQ(StreamCores(stream), chip_cubes);
}

TEST_F(CoreLimits, OfAThreadAreThoseOfTheStreamThatItUses) {
  Stream stream, other;
  EXPECT_EQ(ThreadCores(), chip_cubes);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, 4));
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 6));
  ASSERT_ACL(ACL_SUCCESS, aclrtUseStreamResInCurrentThread(stream));
  EXPECT_EQ(ThreadCores(), 4U);
  EXPECT_EQ(ThreadCores(ACL_RT_DEV_RES_VECTOR_CORE), 6U) << "the stream has no limit of this kind";
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ThreadCores(), chip_cubes) << "another thread chose it";
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  });
  ASSERT_ACL(ACL_SUCCESS, aclrtUnuseStreamResInCurrentThread(other));
  EXPECT_EQ(ThreadCores(), 4U) << "it uses another stream";
  ASSERT_ACL(ACL_SUCCESS, aclrtUnuseStreamResInCurrentThread(stream));
  EXPECT_EQ(ThreadCores(), chip_cubes);
}

TEST_F(CoreLimits, OfADestroyedStreamAreNotUsed) {
  {
    Stream stream;
    ASSERT_ACL(ACL_SUCCESS, aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, 4));
    ASSERT_ACL(ACL_SUCCESS, aclrtUseStreamResInCurrentThread(stream));
  }
  ASSERT_ACL(ACL_SUCCESS, aclrtUseStreamResInCurrentThread(nullptr));
  EXPECT_EQ(ThreadCores(), chip_cubes);
  ASSERT_ACL(ACL_SUCCESS, aclrtUnuseStreamResInCurrentThread(nullptr));
}

TEST_F(CoreLimits, CheckTheirArgumentsInOrder) {
  const auto kUnknown = Unlisted<aclrtDevResLimitType>(2);
  std::uint32_t value = 7;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceResLimit(kNoDevice, kUnknown, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtGetDeviceResLimit(kNoDevice, kUnknown, &value));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID,
             aclrtGetDeviceResLimit(kNoDevice, ACL_RT_DEV_RES_CUBE_CORE, &value));
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtGetDeviceResLimit(1, ACL_RT_DEV_RES_CUBE_CORE, &value));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceResLimit(kNoDevice, kUnknown, 1));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID,
             aclrtSetDeviceResLimit(kNoDevice, ACL_RT_DEV_RES_CUBE_CORE, 9999));
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDeviceResLimit(1, ACL_RT_DEV_RES_CUBE_CORE, 9999));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDeviceResLimit(kNoDevice));
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtResetDeviceResLimit(1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetStreamResLimit(kForged, kUnknown, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtGetStreamResLimit(kForged, kUnknown, &value));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtGetStreamResLimit(kForged, ACL_RT_DEV_RES_CUBE_CORE, &value));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamResLimit(kForged, kUnknown, 1));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamResLimit(kForged, ACL_RT_DEV_RES_CUBE_CORE, 9999));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamResLimit(kForged, ACL_RT_DEV_RES_CUBE_CORE, 1));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtResetStreamResLimit(kForged));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtUseStreamResInCurrentThread(kForged));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtUnuseStreamResInCurrentThread(kForged));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetResInCurrentThread(kUnknown, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtGetResInCurrentThread(kUnknown, &value));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetStreamResLimit(nullptr, ACL_RT_DEV_RES_CUBE_CORE, &value));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetStreamResLimit(nullptr, ACL_RT_DEV_RES_CUBE_CORE, 1));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtResetStreamResLimit(nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtUseStreamResInCurrentThread(nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtUnuseStreamResInCurrentThread(nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &value));
  });
  EXPECT_EQ(value, 7U);
}

}  // namespace
}  // namespace sampan::test::compute_settings_test
