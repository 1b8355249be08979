// Settings and queries of compute.
#include <cstdint>

#include "tests/fault/api_call.h"

#include <gtest/gtest.h>

namespace sampan::fault {
namespace {

constexpr auto kCube = ACL_RT_DEV_RES_CUBE_CORE;

/// The number that a call of one output gives.
template <typename Out, typename Call>
aclError Into(World& w, Call call) {
  Out value{};
  const aclError code = call(&value);
  w.results.number = static_cast<std::uint64_t>(value);
  return code;
}

bool NumberIsThere(World& w) {
  return w.results.number != 0;
}

void ResetCores(World& w) {
  EXPECT_EQ(aclrtResetDeviceResLimit(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetStreamResLimit(w.stream), ACL_SUCCESS);
}

bool CoresOfStreamAre3(World& w) {
  std::uint32_t cores = 0;
  return aclrtGetStreamResLimit(w.stream, kCube, &cores) == ACL_SUCCESS && cores == 3;
}

bool CoresOfDeviceAre3(World&) {
  std::uint32_t cores = 0;
  return aclrtGetDeviceResLimit(0, kCube, &cores) == ACL_SUCCESS && cores == 3;
}

void LimitCores(World& w) {
  EXPECT_EQ(aclrtSetDeviceResLimit(0, kCube, 3), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamResLimit(w.stream, kCube, 3), ACL_SUCCESS);
}

void Initialize(World&) {
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
}
void OpenDump(World& w) {
  Initialize(w);
  EXPECT_EQ(aclmdlInitDump(), ACL_SUCCESS);
}
void Finalize(World&) {
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

std::vector<ApiCall> LimitCalls() {
  return {
      {.name = "aclrtSetOpWaitTimeout",
       .call = [](World&) { return aclrtSetOpWaitTimeout(1000); },
       .undo = [](World&) { EXPECT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS); }},
      {.name = "aclrtSetOpExecuteTimeOut", .call = [](World&) { return aclrtSetOpExecuteTimeOut(100); }},
      {.name = "aclrtSetOpExecuteTimeOutV2",
       .call = [](World& w) { return aclrtSetOpExecuteTimeOutV2(1, &w.results.number); },
       .right = NumberIsThere,
       .claims = NumberIsThere},
      {.name = "aclrtGetOpTimeOutInterval",
       .call = [](World& w) { return aclrtGetOpTimeOutInterval(&w.results.number); },
       .right = NumberIsThere},
      {.name = "aclrtGetOpExecuteTimeout",
       .call = [](World& w) { return Into<std::uint32_t>(w, aclrtGetOpExecuteTimeout); },
       .right = NumberIsThere},
      {.name = "aclrtGetDeviceResLimit",
       .call =
           [](World& w) {
             return Into<std::uint32_t>(w, [](auto* out) { return aclrtGetDeviceResLimit(0, kCube, out); });
           },
       .right = NumberIsThere},
      {.name = "aclrtSetDeviceResLimit",
       .call = [](World&) { return aclrtSetDeviceResLimit(0, kCube, 3); },
       .right = CoresOfDeviceAre3,
       .claims = CoresOfDeviceAre3,
       .undo = ResetCores},
      {.name = "aclrtResetDeviceResLimit",
       .call = [](World&) { return aclrtResetDeviceResLimit(0); },
       .prepare = LimitCores,
       .right = [](World& w) { return !CoresOfDeviceAre3(w); },
       .undo = ResetCores},
      {.name = "aclrtGetStreamResLimit",
       .call =
           [](World& w) {
             return Into<std::uint32_t>(
                 w, [&](auto* out) { return aclrtGetStreamResLimit(w.stream, kCube, out); });
           },
       .right = NumberIsThere},
      {.name = "aclrtSetStreamResLimit",
       .call = [](World& w) { return aclrtSetStreamResLimit(w.stream, kCube, 3); },
       .right = CoresOfStreamAre3,
       .claims = CoresOfStreamAre3,
       .undo = ResetCores},
      {.name = "aclrtResetStreamResLimit",
       .call = [](World& w) { return aclrtResetStreamResLimit(w.stream); },
       .prepare = [](World& w) { EXPECT_EQ(aclrtSetStreamResLimit(w.stream, kCube, 3), ACL_SUCCESS); },
       .right = [](World& w) { return !CoresOfStreamAre3(w); }},
      {.name = "aclrtUseStreamResInCurrentThread",
       .call = [](World& w) { return aclrtUseStreamResInCurrentThread(w.stream); },
       .undo = [](World& w) { EXPECT_EQ(aclrtUnuseStreamResInCurrentThread(w.stream), ACL_SUCCESS); }},
      {.name = "aclrtUnuseStreamResInCurrentThread",
       .call = [](World& w) { return aclrtUnuseStreamResInCurrentThread(w.stream); }},
      {.name = "aclrtGetResInCurrentThread",
       .call =
           [](World& w) {
             return Into<std::uint32_t>(w, [](auto* out) { return aclrtGetResInCurrentThread(kCube, out); });
           },
       .right = NumberIsThere},
  };
}

std::vector<ApiCall> QueryCalls() {
  return {
      {.name = "aclrtCmoAsync",
       .call = [](World& w) { return aclrtCmoAsync(w.device_a, kBytes, ACL_RT_CMO_TYPE_PREFETCH, w.stream); },
       .right = [](World& w) { return w.Drained(); }},
      {.name = "aclrtSetDeviceSatMode",
       .call = [](World&) { return aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN); }},
      {.name = "aclrtGetDeviceSatMode",
       .call = [](World& w) { return Into<aclrtFloatOverflowMode>(w, aclrtGetDeviceSatMode); },
       .right = NumberIsThere},
      {.name = "aclrtSetStreamOverflowSwitch",
       .call = [](World& w) { return aclrtSetStreamOverflowSwitch(w.stream, 1); }},
      {.name = "aclrtGetStreamOverflowSwitch",
       .call =
           [](World& w) {
             return Into<std::uint32_t>(
                 w, [&](auto* out) { return aclrtGetStreamOverflowSwitch(w.stream, out); });
           }},
      {.name = "aclGetDeviceCapability",
       .call =
           [](World& w) {
             return Into<std::int64_t>(
                 w, [](auto* out) { return aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, out); });
           },
       .right = NumberIsThere},
      {.name = "aclGetCannAttribute",
       .call =
           [](World& w) {
             return Into<std::int32_t>(
                 w, [](auto* out) { return aclGetCannAttribute(ACL_CANN_ATTR_BF16, out); });
           },
       .right = NumberIsThere},
      {.name = "aclGetCannAttributeList",
       .call =
           [](World& w) {
             const aclCannAttr* list = nullptr;
             return aclGetCannAttributeList(&list, &w.results.size);
           },
       .right = [](World& w) { return w.results.size == 3; }},
      {.name = "aclrtGetErrorVerbose",
       .call =
           [](World&) {
             aclrtErrorInfo info;
             return aclrtGetErrorVerbose(0, &info);
           }},
      {.name = "aclrtRepairError",
       .call =
           [](World&) {
             aclrtErrorInfo info = {};
             info.tryRepair = 1;
             return aclrtRepairError(0, &info);
           }},
      {.name = "aclrtGetMemUceInfo",
       .call =
           [](World& w) {
             aclrtMemUceInfo range;
             return aclrtGetMemUceInfo(0, &range, 1, &w.results.size);
           }},
      {.name = "aclrtMemUceRepair",
       .call =
           [](World&) {
             aclrtMemUceInfo range = {};
             return aclrtMemUceRepair(0, &range, 0);
           }},
      {.name = "aclmdlInitDump",
       .call = [](World&) { return aclmdlInitDump(); },
       .prepare = Initialize,
       .undo = Finalize},
      {.name = "aclmdlSetDump",
       .call = [](World& w) { return aclmdlSetDump(w.config_path.c_str()); },
       .prepare = OpenDump,
       .undo = Finalize},
      {.name = "aclmdlFinalizeDump",
       .call = [](World&) { return aclmdlFinalizeDump(); },
       .prepare = OpenDump,
       .undo = Finalize},
      {.name = "aclrtCreateBinary",
       .call =
           [](World& w) {
             w.results.pointer = aclrtCreateBinary(w.pages, kBytes);
             return w.results.pointer != nullptr ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
           },
       .right = PointerReturned,
       .claims = PointerReturned,
       .undo = [](World& w) { EXPECT_EQ(aclrtDestroyBinary(w.results.pointer), ACL_SUCCESS); }},
      {.name = "aclrtDestroyBinary",
       .call = [](World& w) { return aclrtDestroyBinary(w.results.pointer); },
       .prepare = [](World& w) { w.results.pointer = aclrtCreateBinary(w.pages, kBytes); }},
      {.name = "aclmdlRICaptureGetInfo",
       .call =
           [](World& w) {
             aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
             const aclError code = aclmdlRICaptureGetInfo(w.stream, &status, nullptr);
             w.results.number = status;
             return code;
           },
       .right = [](World& w) { return w.results.number == ACL_MODEL_RI_CAPTURE_STATUS_NONE; }},
      {.name = "aclmdlRICaptureThreadExchangeMode",
       .call =
           [](World&) {
             aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
             return aclmdlRICaptureThreadExchangeMode(&mode);
           }},
  };
}

}  // namespace

std::vector<ApiCall> ComputeCalls() {
  std::vector<ApiCall> calls = LimitCalls();
  for (const ApiCall& call : QueryCalls())
    calls.push_back(call);
  return calls;
}

}  // namespace sampan::fault
