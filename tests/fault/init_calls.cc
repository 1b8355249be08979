// Initialisation, errors, versions and data buffers under failing memory.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/fault/api_call.h"

namespace sampan::fault {
namespace {

aclError OnInit(const char*, std::size_t, void* world) {
  ++static_cast<World*>(world)->calls;
  return ACL_SUCCESS;
}
aclError OnFinalize(void* world) {
  ++static_cast<World*>(world)->calls;
  return ACL_SUCCESS;
}

constexpr aclRegisterCallbackType kType = ACL_REG_TYPE_OTHER;
char package[] = "runtime";

}  // namespace

std::vector<ApiCall> InitCalls() {
  return {
      {.name = "aclInit",
       .call = [](World& w) { return aclInit(w.config_path.c_str()); },
       .undo = [](World&) { EXPECT_EQ(aclFinalize(), ACL_SUCCESS); }},
      {.name = "aclFinalize",
       .call = [](World&) { return aclFinalize(); },
       .prepare = [](World&) { EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS); }},
      {.name = "aclFinalizeReference",
       .call = [](World& w) { return aclFinalizeReference(&w.results.number); },
       .prepare = [](World&) { EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS); },
       .right = [](World& w) { return w.results.number == 0; }},
      {.name = "aclInitCallbackRegister",
       .call = [](World& w) { return aclInitCallbackRegister(kType, &OnInit, &w); },
       .prepare = [](World& w) { w.calls = 0; },
       .right =
           [](World& w) {
             EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
             EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
             return w.calls == 1;
           },
       .undo = [](World&) { EXPECT_EQ(aclInitCallbackUnRegister(kType, &OnInit), ACL_SUCCESS); }},
      {.name = "aclInitCallbackUnRegister",
       .call = [](World&) { return aclInitCallbackUnRegister(kType, &OnInit); },
       .prepare = [](World& w) { EXPECT_EQ(aclInitCallbackRegister(kType, &OnInit, &w), ACL_SUCCESS); }},
      {.name = "aclFinalizeCallbackRegister",
       .call = [](World& w) { return aclFinalizeCallbackRegister(kType, &OnFinalize, &w); },
       .prepare = [](World& w) { w.calls = 0; },
       .right =
           [](World& w) {
             EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
             EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
             return w.calls == 1;
           },
       .undo = [](World&) { EXPECT_EQ(aclFinalizeCallbackUnRegister(kType, &OnFinalize), ACL_SUCCESS); }},
      {.name = "aclFinalizeCallbackUnRegister",
       .call = [](World&) { return aclFinalizeCallbackUnRegister(kType, &OnFinalize); },
       .prepare =
           [](World& w) { EXPECT_EQ(aclFinalizeCallbackRegister(kType, &OnFinalize, &w), ACL_SUCCESS); }},
      {.name = "aclAppLog",
       .call =
           [](World&) {
             aclAppLog(ACL_ERROR, "function", "file.cc", 1, "a text of %d words that needs some memory", 9);
             return ACL_SUCCESS;
           }},
      {.name = "aclGetRecentErrMsg",
       .call =
           [](World& w) {
             w.results.pointer = const_cast<char*>(aclGetRecentErrMsg());
             return w.results.pointer != nullptr ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
           },
       .prepare = [](World&) { EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM); },
       .right =
           [](World& w) {
             return std::strstr(static_cast<char*>(w.results.pointer), "aclrtFree") != nullptr;
           }},
      {.name = "aclrtPeekAtLastError",
       .call = [](World&) { return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL); },
       .prepare = [](World&) { aclrtGetLastError(ACL_RT_THREAD_LEVEL); }},
      {.name = "aclrtGetLastError",
       .call = [](World&) { return aclrtGetLastError(ACL_RT_THREAD_LEVEL); },
       .prepare = [](World&) { aclrtGetLastError(ACL_RT_THREAD_LEVEL); }},
      {.name = "aclrtGetVersion",
       .call =
           [](World& w) {
             std::int32_t major = 0, minor = 0, patch = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
             const aclError code = aclrtGetVersion(&major, &minor, &patch);
#pragma GCC diagnostic pop
             w.results.number = static_cast<std::uint64_t>(major);
             return code;
           },
       .right = [](World& w) { return w.results.number == 1; }},
      {.name = "aclsysGetVersionStr",
       .call = [](World& w) { return aclsysGetVersionStr(package, w.results.text); },
       .right = [](World& w) { return std::strcmp(w.results.text, "8.5.0") == 0; },
       .claims = [](World& w) { return w.results.text[0] != '\0'; }},
      {.name = "aclsysGetVersionNum",
       .call =
           [](World& w) {
             std::int32_t number = 0;
             const aclError code = aclsysGetVersionNum(package, &number);
             w.results.number = static_cast<std::uint64_t>(number);
             return code;
           },
       .right = [](World& w) { return w.results.number == 80500000; },
       .claims = [](World& w) { return w.results.number != 0; }},
      {.name = "aclsysGetCANNVersion",
       .call =
           [](World& w) {
             aclCANNPackageVersion version = {};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
             const aclError code = aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version);
#pragma GCC diagnostic pop
             std::memcpy(w.results.text, version.version, sizeof(version.version));
             return code;
           },
       .right = [](World& w) { return std::strcmp(w.results.text, "8.5.0") == 0; },
       .claims = [](World& w) { return w.results.text[0] != '\0'; }},
      {.name = "aclCreateDataBuffer",
       .call =
           [](World& w) {
             w.results.buffer = aclCreateDataBuffer(w.device_a, kBytes);
             return w.results.buffer != nullptr ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
           },
       .right = [](World& w) { return aclGetDataBufferAddr(w.results.buffer) == w.device_a; },
       .undo = [](World& w) { EXPECT_EQ(aclDestroyDataBuffer(w.results.buffer), ACL_SUCCESS); }},
      {.name = "aclDestroyDataBuffer",
       .call = [](World& w) { return aclDestroyDataBuffer(w.results.buffer); },
       .prepare = [](World& w) { w.results.buffer = aclCreateDataBuffer(w.device_a, kBytes); }},
      {.name = "aclUpdateDataBuffer",
       .call = [](World& w) { return aclUpdateDataBuffer(w.results.buffer, w.device_b, 7); },
       .prepare = [](World& w) { w.results.buffer = aclCreateDataBuffer(w.device_a, kBytes); },
       .right = [](World& w) { return aclGetDataBufferSizeV2(w.results.buffer) == 7; },
       .undo = [](World& w) { EXPECT_EQ(aclDestroyDataBuffer(w.results.buffer), ACL_SUCCESS); }},
  };
}

}  // namespace sampan::fault
