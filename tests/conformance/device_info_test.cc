// What can be asked about devices: attributes, identities, numbers, links and peer access.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/device_fixture.h"
#include "tests/support/stream.h"
#include "tests/support/text_match.h"

namespace sampan::test::device_info_test {
namespace {

constexpr std::int32_t kNoDevice = 4711;

std::int32_t DeviceCount() {
  std::uint32_t count = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&count));
  return static_cast<std::int32_t>(count);
}

std::int64_t Info(std::uint32_t device, aclrtDevAttr attribute) {
  std::int64_t value = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceInfo(device, attribute, &value)) << "attribute " << attribute;
  return value;
}

// ---- attributes ----

TEST(DeviceInfo, ChecksItsArguments) {
  std::int64_t value = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID,
             aclrtGetDeviceInfo(kNoDevice, ACL_DEV_ATTR_AICORE_CORE_NUM, &value));
}

TEST(DeviceInfo, HasCoresAndCaches) {
  EXPECT_GT(Info(0, ACL_DEV_ATTR_AICPU_CORE_NUM), 0);
  EXPECT_GT(Info(0, ACL_DEV_ATTR_AICORE_CORE_NUM), 0);
  EXPECT_GT(Info(0, ACL_DEV_ATTR_CUBE_CORE_NUM), 0);
  EXPECT_GT(Info(0, ACL_DEV_ATTR_VECTOR_CORE_NUM), 0);
  EXPECT_GT(Info(0, ACL_DEV_ATTR_L2_CACHE_SIZE), 0);
}

TEST(DeviceInfo, ChipsHaveTheirOwnNumbers) {
  EXPECT_NE(Info(0, ACL_DEV_ATTR_PHY_CHIP_ID), Info(1, ACL_DEV_ATTR_PHY_CHIP_ID));
}

TEST(DeviceInfo, LinkToTheHostIsKnown) {
  const std::int64_t link = Info(0, ACL_DEV_ATTR_HD_CONNECT_TYPE);
  EXPECT_TRUE(link == ACL_HOST_DEVICE_CONNECT_TYPE_PCIE || link == ACL_HOST_DEVICE_CONNECT_TYPE_HCCS) << link;
}

using DeviceInfoOfMemory = DeviceTest;

TEST_F(DeviceInfoOfMemory, AgreesWithMemInfo) {
  std::size_t free = 0, total = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  EXPECT_EQ(Info(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE), static_cast<std::int64_t>(total));
}

TEST(DeviceCapability, IsYesOrNo) {
  std::int32_t value = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceCapability(0, ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, &value));
  EXPECT_TRUE(value == ACL_DEV_FEATURE_SUPPORT || value == ACL_DEV_FEATURE_NOT_SUPPORT) << value;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtGetDeviceCapability(0, ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID,
             aclrtGetDeviceCapability(kNoDevice, ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, &value));
}

TEST(DeviceStatus, IsNormal) {
  aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
  EXPECT_ACL(ACL_SUCCESS, aclrtQueryDeviceStatus(0, &status));
  EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_NORMAL);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtQueryDeviceStatus(0, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtQueryDeviceStatus(kNoDevice, &status));
}

TEST(DeviceUtilization, IsInPercent) {
  aclrtUtilizationInfo load = {-1, -1, -1, -1, nullptr};
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceUtilizationRate(0, &load));
  for (const std::int32_t part :
       {load.cubeUtilization, load.vectorUtilization, load.aicpuUtilization, load.memoryUtilization}) {
    EXPECT_GE(part, 0);
    EXPECT_LE(part, 100);
  }
}

TEST(DeviceUtilization, ChecksItsArguments) {
  aclrtUtilizationInfo load = {};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceUtilizationRate(0, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDeviceUtilizationRate(kNoDevice, &load));
  load.utilizationExtend = reinterpret_cast<aclrtUtilizationExtendInfo*>(&load);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceUtilizationRate(0, &load));
}

using StreamPriorityRange = DeviceTest;

TEST_F(StreamPriorityRange, IsSevenToZero) {
  std::int32_t least = -1, greatest = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 7);
  EXPECT_EQ(greatest, 0);
  least = greatest = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceGetStreamPriorityRange(nullptr, &greatest));
  EXPECT_EQ(greatest, 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceGetStreamPriorityRange(&least, nullptr));
  EXPECT_EQ(least, 7);
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceGetStreamPriorityRange(nullptr, nullptr));
}

// ---- identities ----

TEST(DeviceUuid, TellsDevicesApart) {
  std::set<std::string> seen;
  for (std::int32_t device = 0; device < DeviceCount(); ++device) {
    aclrtUuid uuid = {}, again = {};
    EXPECT_ACL(ACL_SUCCESS, aclrtDeviceGetUuid(device, &uuid));
    EXPECT_ACL(ACL_SUCCESS, aclrtDeviceGetUuid(device, &again));
    EXPECT_EQ(std::memcmp(&uuid, &again, sizeof(uuid)), 0);
    seen.emplace(uuid.bytes, sizeof(uuid.bytes));
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(DeviceCount()));
  aclrtUuid uuid = {};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetUuid(0, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceGetUuid(kNoDevice, &uuid));
}

TEST(PciBusId, LeadsBackToTheDevice) {
  std::set<std::string> seen;
  for (std::int32_t device = 0; device < DeviceCount(); ++device) {
    char bus[32] = {};
    ASSERT_ACL(ACL_SUCCESS, aclrtDeviceGetPCIBusId(device, bus, sizeof(bus)));
    EXPECT_TRUE(Matches(bus, "^[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\\.[0-9]$")) << bus;
    seen.insert(bus);
    std::int32_t found = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtDeviceGetByPCIBusId(bus, &found));
    EXPECT_EQ(found, device);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(DeviceCount()));
}

TEST(PciBusId, ChecksItsArguments) {
  char bus[32] = {};
  std::int32_t device = -1;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetPCIBusId(0, nullptr, sizeof(bus)));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceGetPCIBusId(kNoDevice, bus, sizeof(bus)));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetByPCIBusId(nullptr, &device));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetByPCIBusId("0000:00:00.0", nullptr));
  EXPECT_NE(aclrtDeviceGetByPCIBusId("ffff:ff:1f.7", &device), ACL_SUCCESS) << "no device is there";
}

TEST(PciBusId, NeverWritesPastTheBuffer) {
  char bus[32];
  std::memset(bus, '#', sizeof(bus));
  EXPECT_NE(aclrtDeviceGetPCIBusId(0, bus, 4), ACL_SUCCESS) << "four bytes cannot hold it";
  EXPECT_EQ(bus[4], '#');
}

TEST(BareTgid, IsTheProcess) {
  std::int32_t pid = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceGetBareTgid(&pid));
  EXPECT_EQ(pid, getpid());
}

// ---- numbers ----

using Conversion = aclError (*)(const std::int32_t, std::int32_t* const);
constexpr Conversion kConversions[] = {aclrtGetLogicDevIdByUserDevId, aclrtGetUserDevIdByLogicDevId,
                                       aclrtGetLogicDevIdByPhyDevId,  aclrtGetPhyDevIdByLogicDevId,
                                       aclrtGetUserDevIdByPhyDevId,   aclrtGetPhyDevIdByUserDevId};

TEST(DeviceNumbers, AreAllTheSameWhenEveryDeviceIsVisible) {
  for (const Conversion convert : kConversions) {
    for (std::int32_t device = 0; device < DeviceCount(); ++device) {
      std::int32_t number = -1;
      EXPECT_ACL(ACL_SUCCESS, convert(device, &number));
      EXPECT_EQ(number, device);
    }
  }
}

TEST(DeviceNumbers, CheckTheirArguments) {
  for (const Conversion convert : kConversions) {
    std::int32_t number = -1;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, convert(0, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, convert(kNoDevice, &number));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, convert(-1, &number));
  }
}

// ---- links and peers ----

TEST(DevicesTopo, IsTheSameInBothDirections) {
  std::uint64_t there = 0, back = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDevicesTopo(0, 1, &there));
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDevicesTopo(1, 0, &back));
  EXPECT_NE(there, 0u);
  EXPECT_EQ(there, back);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDevicesTopo(0, 1, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDevicesTopo(0, kNoDevice, &there));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDevicesTopo(kNoDevice, 0, &there));
}

TEST(CanAccessPeer, AnswersForTwoDevices) {
  std::int32_t can = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
}

TEST(CanAccessPeer, ChecksItsArguments) {
  std::int32_t can = -1;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(&can, 1, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(nullptr, kNoDevice, kNoDevice))
      << "equal numbers are found first";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceCanAccessPeer(&can, 0, kNoDevice));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceCanAccessPeer(&can, -1, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceCanAccessPeer(nullptr, 0, 1));
}

TEST(CanAccessPeer, IsUnsupportedOnAStandaloneChip) {
  if (DoneInChild({{"SAMPAN_PROFILE", "ascend310-rc"}, {"SAMPAN_DEVICES", "2"}})) return;
  std::int32_t can = -1;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDeviceCanAccessPeer(&can, 0, 1));
}

class PeerAccess : public DeviceTest {
 protected:
  static std::int32_t Status(std::int32_t device, std::int32_t peer) {
    std::int32_t status = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtDevicePeerAccessStatus(device, peer, &status));
    return status;
  }
};

TEST_F(PeerAccess, IsOnFromEnableToDisable) {
  EXPECT_EQ(Status(0, 1), 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(Status(0, 1), 1);
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceDisablePeerAccess(1));
  EXPECT_EQ(Status(0, 1), 0);
}

TEST_F(PeerAccess, GoesOneWay) {
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(Status(1, 0), 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceDisablePeerAccess(1));
}

TEST_F(PeerAccess, ChecksItsArguments) {
  EXPECT_ACL(ACL_ERROR_FEATURE_UNSUPPORTED, aclrtDeviceEnablePeerAccess(1, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceEnablePeerAccess(0, 0)) << "itself";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceEnablePeerAccess(kNoDevice, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDeviceDisablePeerAccess(0)) << "itself";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceDisablePeerAccess(kNoDevice));
  std::int32_t status = -1;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDevicePeerAccessStatus(0, 1, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDevicePeerAccessStatus(0, kNoDevice, &status));
}

TEST_F(PeerAccess, NeedsAContext) {
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_FEATURE_UNSUPPORTED, aclrtDeviceEnablePeerAccess(1, 1)) << "flags come first";
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDeviceDisablePeerAccess(1));
  });
}

}  // namespace
}  // namespace sampan::test::device_info_test
