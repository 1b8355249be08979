// Devices and contexts under failing memory.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/fault/api_call.h"

namespace sampan::fault {
namespace {

template <aclError (*kFunction)(std::int32_t, std::int32_t*)>
aclError TranslateId(World& w) {
  std::int32_t id = -1;
  const aclError code = kFunction(1, &id);
  w.results.number = static_cast<std::uint64_t>(id + 1);
  return code;
}
bool TranslatedToOne(World& w) {
  return w.results.number == 2;
}
bool Translated(World& w) {
  return w.results.number != 0;
}

/// Device 0 is what calls start from, with one reference.
void BackToDeviceZero(World& w) {
  EXPECT_EQ(aclrtSetCurrentContext(w.primary), ACL_SUCCESS);
}

}  // namespace

std::vector<ApiCall> DeviceCalls() {
  return {
      {.name = "aclrtSetDevice",
       .call = [](World&) { return aclrtSetDevice(1); },
       .right =
           [](World&) {
             std::int32_t device = -1;
             return aclrtGetDevice(&device) == ACL_SUCCESS && device == 1;
           },
       .undo =
           [](World& w) {
             EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
             BackToDeviceZero(w);
           }},
      {.name = "aclrtResetDevice",
       .call = [](World&) { return aclrtResetDevice(1); },
       .prepare = [](World&) { EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS); },
       .undo = BackToDeviceZero},
      {.name = "aclrtResetDeviceForce",
       .call = [](World&) { return aclrtResetDeviceForce(1); },
       .prepare =
           [](World& w) {
             EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
             EXPECT_EQ(aclrtCreateStream(&w.results.stream), ACL_SUCCESS);
             EXPECT_EQ(aclrtMalloc(&w.results.pointer, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
           },
       .undo = BackToDeviceZero},
      {.name = "aclrtGetDevice",
       .call =
           [](World& w) {
             std::int32_t device = -1;
             const aclError code = aclrtGetDevice(&device);
             w.results.number = static_cast<std::uint64_t>(device + 1);
             return code;
           },
       .right = [](World& w) { return w.results.number == 1; }},
      {.name = "aclrtGetDeviceCount",
       .call =
           [](World& w) {
             std::uint32_t count = 0;
             const aclError code = aclrtGetDeviceCount(&count);
             w.results.number = count;
             return code;
           },
       .right = [](World& w) { return w.results.number == 2; }},
      {.name = "aclrtGetRunMode",
       .call =
           [](World& w) {
             aclrtRunMode mode = ACL_DEVICE;
             const aclError code = aclrtGetRunMode(&mode);
             w.results.number = mode;
             return code;
           },
       .right = [](World& w) { return w.results.number == ACL_HOST; }},
      {.name = "aclrtSynchronizeDevice", .call = [](World&) { return aclrtSynchronizeDevice(); }},
      {.name = "aclrtSynchronizeDeviceWithTimeout",
       .call = [](World&) { return aclrtSynchronizeDeviceWithTimeout(10000); }},
      {.name = "aclrtDeviceCanAccessPeer",
       .call =
           [](World& w) {
             std::int32_t can = 0;
             const aclError code = aclrtDeviceCanAccessPeer(&can, 0, 1);
             w.results.number = static_cast<std::uint64_t>(can);
             return code;
           },
       .right = [](World& w) { return w.results.number == 1; }},
      {.name = "aclrtDeviceEnablePeerAccess",
       .call = [](World&) { return aclrtDeviceEnablePeerAccess(1, 0); },
       .right =
           [](World&) {
             std::int32_t status = 0;
             return aclrtDevicePeerAccessStatus(0, 1, &status) == ACL_SUCCESS && status == 1;
           },
       .claims =
           [](World&) {
             std::int32_t status = 0;
             return aclrtDevicePeerAccessStatus(0, 1, &status) == ACL_SUCCESS && status == 1;
           },
       .undo = [](World&) { EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS); }},
      {.name = "aclrtDeviceDisablePeerAccess",
       .call = [](World&) { return aclrtDeviceDisablePeerAccess(1); },
       .prepare = [](World&) { EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS); }},
      {.name = "aclrtDevicePeerAccessStatus",
       .call =
           [](World& w) {
             std::int32_t status = 7;
             const aclError code = aclrtDevicePeerAccessStatus(0, 1, &status);
             w.results.number = static_cast<std::uint64_t>(status);
             return code;
           },
       .right = [](World& w) { return w.results.number == 0; }},
      {.name = "aclrtGetSocName",
       .call = [](World&) { return aclrtGetSocName() != nullptr ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC; }},
      {.name = "aclrtQueryDeviceStatus",
       .call =
           [](World& w) {
             aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
             const aclError code = aclrtQueryDeviceStatus(0, &status);
             w.results.number = status;
             return code;
           },
       .right = [](World& w) { return w.results.number == ACL_RT_DEVICE_STATUS_NORMAL; }},
      {.name = "aclrtGetDeviceInfo",
       .call =
           [](World& w) {
             std::int64_t value = 0;
             const aclError code = aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &value);
             w.results.number = static_cast<std::uint64_t>(value);
             return code;
           },
       .right = [](World& w) { return w.results.number != 0; }},
      {.name = "aclrtGetDeviceCapability",
       .call =
           [](World&) {
             std::int32_t value = 0;
             return aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &value);
           }},
      {.name = "aclrtGetDeviceUtilizationRate",
       .call =
           [](World&) {
             aclrtUtilizationInfo info = {};
             return aclrtGetDeviceUtilizationRate(0, &info);
           }},
      {.name = "aclrtDeviceGetStreamPriorityRange",
       .call =
           [](World& w) {
             std::int32_t least = 0, greatest = 7;
             const aclError code = aclrtDeviceGetStreamPriorityRange(&least, &greatest);
             w.results.number = static_cast<std::uint64_t>(least - greatest);
             return code;
           },
       .right = [](World& w) { return w.results.number == 7; }},
      {.name = "aclrtDeviceGetUuid",
       .call =
           [](World&) {
             aclrtUuid uuid = {};
             return aclrtDeviceGetUuid(0, &uuid);
           }},
      {.name = "aclrtDeviceGetPCIBusId",
       .call = [](World& w) { return aclrtDeviceGetPCIBusId(0, w.results.text, 64); },
       .right = [](World& w) { return w.results.text[0] != '\0'; },
       .claims = [](World& w) { return w.results.text[0] != '\0'; }},
      {.name = "aclrtDeviceGetByPCIBusId",
       .call =
           [](World& w) {
             std::int32_t device = -1;
             const aclError code = aclrtDeviceGetByPCIBusId(w.results.text, &device);
             w.results.number = static_cast<std::uint64_t>(device + 1);
             return code;
           },
       .prepare = [](World& w) { EXPECT_EQ(aclrtDeviceGetPCIBusId(1, w.results.text, 64), ACL_SUCCESS); },
       .right = TranslatedToOne,
       .claims = Translated},
      {.name = "aclrtDeviceGetBareTgid",
       .call =
           [](World& w) {
             std::int32_t pid = 0;
             const aclError code = aclrtDeviceGetBareTgid(&pid);
             w.results.number = static_cast<std::uint64_t>(pid);
             return code;
           },
       .right = [](World& w) { return w.results.number != 0; }},
      {.name = "aclrtGetDevicesTopo",
       .call = [](World& w) { return aclrtGetDevicesTopo(0, 1, &w.results.number); }},
      {.name = "aclrtGetLogicDevIdByUserDevId",
       .call = TranslateId<aclrtGetLogicDevIdByUserDevId>,
       .right = TranslatedToOne,
       .claims = Translated},
      {.name = "aclrtGetUserDevIdByLogicDevId",
       .call = TranslateId<aclrtGetUserDevIdByLogicDevId>,
       .right = TranslatedToOne,
       .claims = Translated},
      {.name = "aclrtGetLogicDevIdByPhyDevId",
       .call = TranslateId<aclrtGetLogicDevIdByPhyDevId>,
       .right = TranslatedToOne,
       .claims = Translated},
      {.name = "aclrtGetPhyDevIdByLogicDevId",
       .call = TranslateId<aclrtGetPhyDevIdByLogicDevId>,
       .right = TranslatedToOne,
       .claims = Translated},
      {.name = "aclrtGetUserDevIdByPhyDevId",
       .call = TranslateId<aclrtGetUserDevIdByPhyDevId>,
       .right = TranslatedToOne,
       .claims = Translated},
      {.name = "aclrtGetPhyDevIdByUserDevId",
       .call = TranslateId<aclrtGetPhyDevIdByUserDevId>,
       .right = TranslatedToOne,
       .claims = Translated},

      {.name = "aclrtCreateContext",
       .call = [](World& w) { return aclrtCreateContext(&w.results.context, 0); },
       .right = [](World& w) { return aclrtSetCurrentContext(w.results.context) == ACL_SUCCESS; },
       .claims = [](World& w) { return w.results.context != nullptr; },
       .undo =
           [](World& w) {
             EXPECT_EQ(aclrtDestroyContext(w.results.context), ACL_SUCCESS);
             BackToDeviceZero(w);
           }},
      {.name = "aclrtDestroyContext",
       .call = [](World& w) { return aclrtDestroyContext(w.results.context); },
       .prepare = [](World& w) { EXPECT_EQ(aclrtCreateContext(&w.results.context, 0), ACL_SUCCESS); },
       .undo = BackToDeviceZero},
      {.name = "aclrtSetCurrentContext", .call = [](World& w) { return aclrtSetCurrentContext(w.primary); }},
      {.name = "aclrtGetCurrentContext",
       .call = [](World& w) { return aclrtGetCurrentContext(&w.results.context); },
       .right = [](World& w) { return w.results.context == w.primary; },
       .claims = [](World& w) { return w.results.context != nullptr; }},
      {.name = "aclrtCtxGetCurrentDefaultStream",
       .call = [](World& w) { return aclrtCtxGetCurrentDefaultStream(&w.results.stream); },
       .right = [](World& w) { return aclrtSynchronizeStream(w.results.stream) == ACL_SUCCESS; },
       .claims = [](World& w) { return w.results.stream != nullptr; }},
      {.name = "aclrtGetPrimaryCtxState",
       .call =
           [](World& w) {
             std::int32_t active = 0;
             const aclError code = aclrtGetPrimaryCtxState(0, nullptr, &active);
             w.results.number = static_cast<std::uint64_t>(active);
             return code;
           },
       .right = [](World& w) { return w.results.number == 1; }},
      {.name = "aclrtCtxSetSysParamOpt",
       .call = [](World&) { return aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1); }},
      {.name = "aclrtCtxGetSysParamOpt",
       .call =
           [](World& w) {
             std::int64_t value = 0;
             const aclError code = aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value);
             w.results.number = static_cast<std::uint64_t>(value);
             return code;
           },
       .prepare = [](World&) { EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS); },
       .right = [](World& w) { return w.results.number == 1; }},
      {.name = "aclrtSetSysParamOpt",
       .call = [](World&) { return aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1); }},
      {.name = "aclrtGetSysParamOpt",
       .call =
           [](World& w) {
             std::int64_t value = 0;
             const aclError code = aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value);
             w.results.number = static_cast<std::uint64_t>(value);
             return code;
           },
       .prepare = [](World&) { EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS); },
       .right = [](World& w) { return w.results.number == 1; }},
  };
}

}  // namespace sampan::fault
