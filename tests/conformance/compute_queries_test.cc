// What a copy runtime answers about compute: figures, hints, faults, dumps, kernels.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/device_fixture.h"
#include "tests/support/stream.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/unlisted.h"

namespace sampan::test::compute_queries_test {
namespace {

constexpr std::int32_t kNoDevice = 4711;
void* const kForged = reinterpret_cast<void*>(0x5EED);

using ComputeQueries = DeviceTest;

// ---- figures (settings-6) ----

TEST_F(ComputeQueries, FiguresAgreeWithTheAttributesOfTheDevice) {
  const std::pair<aclDeviceInfo, aclrtDevAttr> pairs[] = {
      {ACL_DEVICE_INFO_AI_CORE_NUM, ACL_DEV_ATTR_AICORE_CORE_NUM},
      {ACL_DEVICE_INFO_VECTOR_CORE_NUM, ACL_DEV_ATTR_VECTOR_CORE_NUM},
      {ACL_DEVICE_INFO_L2_SIZE, ACL_DEV_ATTR_L2_CACHE_SIZE}};
  for (const auto& [figure, attribute] : pairs) {
    std::int64_t value = -1, expected = -2;
    ASSERT_ACL(ACL_SUCCESS, aclGetDeviceCapability(0, figure, &value));
    ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceInfo(0, attribute, &expected));
    EXPECT_EQ(value, expected) << figure;
    EXPECT_GT(value, 0) << figure;
  }
  std::int64_t value = 7;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclGetDeviceCapability(kNoDevice, ACL_DEVICE_INFO_L2_SIZE, &value));
  for (const int unknown : {-1, 3}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclGetDeviceCapability(0, Unlisted<aclDeviceInfo>(unknown), &value));
  }
  EXPECT_EQ(value, 7);
}

TEST_F(ComputeQueries, EveryListedFeatureHasAnAnswer) {
  const aclCannAttr* list = nullptr;
  std::size_t count = 0;
  ASSERT_ACL(ACL_SUCCESS, aclGetCannAttributeList(&list, &count));
  ASSERT_EQ(count, 3U);
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t value = -1;
    ASSERT_ACL(ACL_SUCCESS, aclGetCannAttribute(list[i], &value));
    EXPECT_EQ(value, 1) << list[i];
  }
  std::int32_t value = 7;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclGetCannAttribute(ACL_CANN_ATTR_BF16, nullptr));
  for (const int unknown : {-1, 3})
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclGetCannAttribute(Unlisted<aclCannAttr>(unknown), &value));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclGetCannAttributeList(nullptr, &count));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclGetCannAttributeList(&list, nullptr));
  EXPECT_EQ(value, 7);
}

// ---- cache hints (settings-7) ----

TEST_F(ComputeQueries, ACacheHintKeepsTheOrderOfItsStream) {
  Stream stream;
  void* memory = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  {
    Gate gate(stream);
    for (const aclrtCmoType type : {ACL_RT_CMO_TYPE_PREFETCH, ACL_RT_CMO_TYPE_WRITEBACK,
                                    ACL_RT_CMO_TYPE_INVALID, ACL_RT_CMO_TYPE_FLUSH}) {
      EXPECT_ACL(ACL_SUCCESS, aclrtCmoAsync(memory, 4096, type, stream));
    }
    ASSERT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
}

TEST_F(ComputeQueries, ACacheHintChecksItsArgumentsInOrder) {
  ForeignStream foreign;
  int word = 0;
  const auto kUnknown = Unlisted<aclrtCmoType>(4);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCmoAsync(nullptr, 4, kUnknown, kForged));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCmoAsync(&word, 0, kUnknown, kForged));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCmoAsync(&word, 4, kUnknown, kForged));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtCmoAsync(&word, 4, ACL_RT_CMO_TYPE_FLUSH, kForged));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtCmoAsync(&word, 4, ACL_RT_CMO_TYPE_FLUSH, foreign));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCmoAsync(&word, 4, ACL_RT_CMO_TYPE_FLUSH, nullptr));
  });
}

// ---- faults (settings-8) ----

TEST_F(ComputeQueries, ADeviceHasNoFault) {
  aclrtErrorInfo info;
  std::memset(&info, 0xA5, sizeof(info));
  ASSERT_ACL(ACL_SUCCESS, aclrtGetErrorVerbose(0, &info));
  EXPECT_EQ(info.errorType, ACL_RT_NO_ERROR);
  EXPECT_EQ(info.tryRepair, 0);
  EXPECT_EQ(info.hasDetail, 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtGetErrorVerbose(1, &info)) << "a device without a context has none either";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetErrorVerbose(kNoDevice, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetErrorVerbose(kNoDevice, &info));
}

TEST_F(ComputeQueries, OnlyNoFaultCanBeRepaired) {
  aclrtErrorInfo info{};
  info.errorType = ACL_RT_NO_ERROR;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRepairError(kNoDevice, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRepairError(kNoDevice, &info));
  info.tryRepair = 1;
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtRepairError(kNoDevice, &info));
  EXPECT_ACL(ACL_SUCCESS, aclrtRepairError(0, &info));
  info.errorType = ACL_RT_ERROR_MEMORY;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtRepairError(0, &info));
  info.errorType = ACL_RT_ERROR_AICORE;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRepairError(0, &info));
}

TEST_F(ComputeQueries, NoMemoryHasUncorrectableErrors) {
  aclrtMemUceInfo ranges[21] = {};
  std::size_t count = 7;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemUceInfo(kNoDevice, nullptr, 1, &count));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemUceInfo(kNoDevice, ranges, 1, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetMemUceInfo(kNoDevice, ranges, 1, &count));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetMemUceInfo(1, ranges, 1, &count));
  EXPECT_EQ(count, 7U);
  EXPECT_ACL(ACL_SUCCESS, aclrtGetMemUceInfo(0, ranges, 20, &count));
  EXPECT_EQ(count, 0U);
}

TEST_F(ComputeQueries, OnlyNoRangeCanBeRepaired) {
  aclrtMemUceInfo ranges[21] = {};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemUceRepair(kNoDevice, nullptr, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemUceRepair(kNoDevice, ranges, 21));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemUceRepair(kNoDevice, ranges, 20));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemUceRepair(1, ranges, 1));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemUceRepair(0, ranges, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemUceRepair(0, ranges, 0));
  ranges[1].reserved[13] = 1;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemUceRepair(kNoDevice, ranges, 2));
  EXPECT_TRUE(MessageHas("entry 1 "));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemUceRepair(0, ranges, 0));
}

// ---- dumps (settings-9) ----

TEST(Dump, NeedsAclInitAndIsOpenOnce) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_ERROR_UNINITIALIZE, aclmdlInitDump());
  EXPECT_ACL(ACL_ERROR_UNINITIALIZE, aclmdlSetDump(nullptr));
  EXPECT_ACL(ACL_ERROR_UNINITIALIZE, aclmdlFinalizeDump());
  ASSERT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_DUMP_NOT_RUN, aclmdlSetDump(nullptr));
  EXPECT_ACL(ACL_ERROR_DUMP_NOT_RUN, aclmdlFinalizeDump());
  EXPECT_ACL(ACL_SUCCESS, aclmdlInitDump());
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclmdlInitDump());
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclmdlSetDump(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclmdlFinalizeDump());
  EXPECT_ACL(ACL_SUCCESS, aclmdlInitDump());
  ASSERT_ACL(ACL_SUCCESS, aclFinalize());
  EXPECT_ACL(ACL_ERROR_UNINITIALIZE, aclmdlFinalizeDump());
  ASSERT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclmdlInitDump()) << "aclFinalize closes the service";
}

TEST(Dump, SaysOnceThatNothingIsDumped) {
  if (InChild()) {
    ASSERT_ACL(ACL_SUCCESS, aclInit(nullptr));
    for (int round = 0; round < 3; ++round) {
      EXPECT_ACL(ACL_SUCCESS, aclmdlInitDump());
      EXPECT_ACL(ACL_SUCCESS, aclmdlFinalizeDump());
    }
    return;
  }
  const ChildResult child = RunInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "2"}});
  ASSERT_TRUE(child.Passed()) << child;
  const std::string words = "nothing will be dumped";
  const std::size_t first = child.errors.find(words);
  ASSERT_NE(first, std::string::npos) << child;
  EXPECT_EQ(child.errors.find(words, first + 1), std::string::npos) << child;
}

TEST(Dump, ChecksItsFile) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const std::filesystem::path file = std::filesystem::path(folder.path()) / "dump.json";
  ASSERT_ACL(ACL_SUCCESS, aclInit(nullptr));
  ASSERT_ACL(ACL_SUCCESS, aclmdlInitDump());
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclmdlSetDump((folder.path() + "/absent").c_str()));
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclmdlSetDump(folder.path().c_str()));
  const std::string deep = R"({"a":)" + std::string(40, '[') + std::string(40, ']') + "}";
  const std::pair<std::string, aclError> files[] = {
      {"", ACL_SUCCESS},
      {"{}", ACL_SUCCESS},
      {R"({"dump":{"dump_path":"/tmp","dump_mode":"all","dump_op_switch":"on","dump_data":"stats","dump_list":[]}})",
       ACL_SUCCESS},
      {R"({"dump":{"dump_debug":"off","dump_scene":"lite_exception"}})", ACL_SUCCESS},
      {"{", ACL_ERROR_PARSE_FILE},
      {"[]", ACL_ERROR_PARSE_FILE},
      {"7", ACL_ERROR_PARSE_FILE},
      {deep, ACL_ERROR_PARSE_FILE},
      {R"({"dump":7})", ACL_ERROR_INVALID_DUMP_CONFIG},
      {R"({"dump":{"dump_mode":"some"}})", ACL_ERROR_INVALID_DUMP_CONFIG},
      {R"({"dump":{"dump_mode":1}})", ACL_ERROR_INVALID_DUMP_CONFIG},
      {R"({"dump":{"dump_op_switch":"yes"}})", ACL_ERROR_INVALID_DUMP_CONFIG},
      {R"({"dump":{"dump_data":"all"}})", ACL_ERROR_INVALID_DUMP_CONFIG},
      {R"({"dump":{"dump_path":[]}})", ACL_ERROR_INVALID_DUMP_CONFIG},
      {R"({"dump":{"dump_list":"Conv"}})", ACL_ERROR_INVALID_DUMP_CONFIG},
  };
  for (const auto& [text, code] : files) {
    std::ofstream(file) << text;
    EXPECT_ACL(code, aclmdlSetDump(file.c_str())) << text;
  }
}

TEST(Dump, OfTheFileOfAclInitComesFirst) {
  if (DoneInChild()) return;
  const TemporaryFolder folder;
  const std::filesystem::path file = std::filesystem::path(folder.path()) / "acl.json";
  std::ofstream(file) << R"({"dump":{"dump_mode":"all"}})";
  ASSERT_ACL(ACL_SUCCESS, aclInit(file.c_str()));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclmdlInitDump());
}

// ---- binaries, launches, groups (settings-10) ----

TEST_F(ComputeQueries, ABinaryIsADescriptionOnly) {
  const char bytes[] = "not an object file";
  EXPECT_EQ(aclrtCreateBinary(nullptr, 4), nullptr);
  const aclrtBinary binary = aclrtCreateBinary(bytes, sizeof(bytes));
  ASSERT_NE(binary, nullptr);
  aclrtBinHandle loaded = kForged;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoad(nullptr, &loaded));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoad(binary, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtBinaryLoad(binary, &loaded));
  EXPECT_EQ(loaded, kForged);
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyBinary(binary));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyBinary(binary)) << "destroyed twice";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyBinary(kForged));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyBinary(nullptr));
}

TEST_F(ComputeQueries, NothingCanBeLoaded) {
  aclrtBinHandle handle = nullptr;
  aclrtFuncHandle function = nullptr;
  void* address = nullptr;
  std::size_t bytes = 0;
  constexpr int kNull = ACL_ERROR_INVALID_PARAM, kRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  constexpr int kDead = ACL_ERROR_RT_INVALID_HANDLE;
  EXPECT_ACL(kNull, aclrtBinaryLoadFromFile(nullptr, nullptr, &handle));
  EXPECT_ACL(kNull, aclrtBinaryLoadFromFile("/kernel.o", nullptr, nullptr));
  EXPECT_ACL(kRefused, aclrtBinaryLoadFromFile("/kernel.o", nullptr, &handle));
  EXPECT_ACL(kNull, aclrtBinaryLoadFromData(nullptr, 4, nullptr, &handle));
  EXPECT_ACL(kNull, aclrtBinaryLoadFromData(&bytes, 4, nullptr, nullptr));
  EXPECT_ACL(kRefused, aclrtBinaryLoadFromData(&bytes, 4, nullptr, &handle));
  EXPECT_ACL(kNull, aclrtBinaryGetFunctionByEntry(nullptr, 1, &function));
  EXPECT_ACL(kRefused, aclrtBinaryGetFunctionByEntry(kForged, 1, &function));
  EXPECT_ACL(kNull, aclrtBinaryUnLoad(nullptr));
  EXPECT_ACL(kDead, aclrtBinaryUnLoad(kForged));
  EXPECT_ACL(kNull, aclrtBinaryGetFunction(kForged, nullptr, &function));
  EXPECT_ACL(kNull, aclrtBinaryGetFunction(kForged, "f", nullptr));
  EXPECT_ACL(kDead, aclrtBinaryGetFunction(kForged, "f", &function));
  EXPECT_ACL(kNull, aclrtBinaryGetDevAddress(kForged, nullptr, &bytes));
  EXPECT_ACL(kDead, aclrtBinaryGetDevAddress(kForged, &address, &bytes));
  EXPECT_ACL(kNull, aclrtBinaryGetGlobal(kForged, "g", nullptr, nullptr));
  EXPECT_ACL(kNull, aclrtBinaryGetGlobal(kForged, nullptr, &address, &bytes));
  EXPECT_ACL(kDead, aclrtBinaryGetGlobal(kForged, "g", &address, nullptr));
  EXPECT_ACL(kDead, aclrtBinaryGetGlobal(kForged, "g", nullptr, &bytes));
  EXPECT_ACL(kNull, aclrtBinarySetExceptionCallback(nullptr, nullptr, nullptr));
  EXPECT_ACL(kDead, aclrtBinarySetExceptionCallback(kForged, nullptr, nullptr));
}

TEST_F(ComputeQueries, NothingCanBeLaunched) {
  Stream stream;
  void* list[] = {nullptr};
  constexpr int kNull = ACL_ERROR_INVALID_PARAM, kRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  EXPECT_ACL(kNull, aclrtLaunchKernel(nullptr, 1, list, 8, stream));
  EXPECT_ACL(kNull, aclrtLaunchKernel(kForged, 1, nullptr, 8, stream));
  EXPECT_ACL(kRefused, aclrtLaunchKernel(kForged, 1, list, 8, stream));
  EXPECT_TRUE(MessageHas("aclrtLaunchKernel is not supported"));
  EXPECT_ACL(kNull, aclrtLaunchKernelV2(nullptr, 1, list, 8, nullptr, stream));
  EXPECT_ACL(kRefused, aclrtLaunchKernelV2(kForged, 1, list, 8, nullptr, stream));
  EXPECT_ACL(kNull, aclrtLaunchKernelWithConfig(kForged, 1, stream, nullptr, nullptr, nullptr));
  EXPECT_ACL(kRefused, aclrtLaunchKernelWithConfig(kForged, 1, stream, nullptr, kForged, nullptr));
  EXPECT_ACL(kNull, aclrtLaunchKernelWithHostArgs(kForged, 1, stream, nullptr, nullptr, 8, nullptr, 0));
  EXPECT_ACL(kRefused, aclrtLaunchKernelWithHostArgs(kForged, 1, stream, nullptr, list, 8, nullptr, 0));
  EXPECT_ACL(kNull, aclrtLaunchKernelWithArgsArray(nullptr, 1, stream, nullptr, list));
  EXPECT_ACL(kRefused, aclrtLaunchKernelWithArgsArray(kForged, 1, stream, nullptr, list));
  void* address = kForged;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtGetHardwareSyncAddr(nullptr));
  EXPECT_ACL(kRefused, aclrtGetHardwareSyncAddr(&address));
  EXPECT_EQ(address, kForged);
}

TEST_F(ComputeQueries, ThereAreNoGroupsOfCores) {
  std::uint32_t count = 7;
  std::size_t bytes = 7;
  auto* const group = static_cast<aclrtGroupInfo*>(kForged);
  EXPECT_EQ(aclrtCreateGroupInfo(), nullptr);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetGroup(0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetGroupCount(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtGetGroupCount(&count));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetAllGroupInfo(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtGetAllGroupInfo(group));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtGetGroupInfoDetail(group, 0, ACL_GROUP_AIC_INT, nullptr, 4, &bytes));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtGetGroupInfoDetail(group, 0, ACL_GROUP_AIC_INT, &count, 4, &bytes));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyGroupInfo(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDestroyGroupInfo(group));
  EXPECT_EQ(count, 7U);
}

// ---- tensors and operators, by name (settings-11) ----

TEST(TensorNames, AnswerThatThereAreNone) {
  const std::int64_t dims[] = {2, 3};
  std::int64_t dim = 7;
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND), nullptr);
  EXPECT_TRUE(MessageHas("aclCreateTensorDesc is not supported"));
  EXPECT_EQ(aclGetTensorDescType(nullptr), ACL_DT_UNDEFINED);
  EXPECT_EQ(aclGetTensorDescFormat(nullptr), ACL_FORMAT_UNDEFINED);
  EXPECT_EQ(aclGetTensorDescNumDims(nullptr), 0U);
  EXPECT_EQ(aclGetTensorDescDim(nullptr, 0), -1);
  EXPECT_EQ(aclGetTensorDescName(nullptr), nullptr);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclGetTensorDescDimV2(nullptr, 0, &dim));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclSetTensorShape(nullptr, 2, dims));
  EXPECT_EQ(aclopCreateAttr(), nullptr);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclopSetAttrInt(nullptr, "axis", 1));
  EXPECT_EQ(dim, 7);
}

}  // namespace
}  // namespace sampan::test::compute_queries_test
