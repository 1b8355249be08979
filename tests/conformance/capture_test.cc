// Stream capture is not there: the queries say so, and each call refuses with its own code. Rule settings-12.
#include <gtest/gtest.h>

#include <cstdint>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/stream.h"
#include "tests/support/unlisted.h"

namespace sampan::test::capture_test {
namespace {

constexpr int kNull = ACL_ERROR_INVALID_PARAM, kBad = ACL_ERROR_RT_PARAM_INVALID;
constexpr int kDead = ACL_ERROR_RT_INVALID_HANDLE, kRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
constexpr int kNotCapturing = ACL_ERROR_RT_STREAM_NOT_CAPTURED;
void* const kForged = reinterpret_cast<void*>(0x5EED);
constexpr auto kGlobal = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

using Capture = DeviceTest;

TEST_F(Capture, InfoSaysNotCapturing) {
  Stream stream;
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  aclmdlRI model = kForged;
  EXPECT_ACL(ACL_SUCCESS, aclmdlRICaptureGetInfo(stream, &status, &model));
  EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  EXPECT_EQ(model, nullptr);
  status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  OnNewThread([&] { EXPECT_ACL(ACL_SUCCESS, aclmdlRICaptureGetInfo(stream, &status, nullptr)); });
  EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE) << "a thread without a context may ask";
  model = kForged;
  EXPECT_ACL(ACL_SUCCESS, aclmdlRICaptureGetInfo(stream, nullptr, &model));
  EXPECT_EQ(model, nullptr);
  EXPECT_ACL(kNull, aclmdlRICaptureGetInfo(nullptr, &status, &model));
  EXPECT_ACL(kNull, aclmdlRICaptureGetInfo(stream, nullptr, nullptr));
  EXPECT_ACL(kDead, aclmdlRICaptureGetInfo(kForged, &status, &model));
}

TEST_F(Capture, BeginChecksItsArgumentsAndRefuses) {
  Stream stream;
  ForeignStream foreign;
  aclrtStream own = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&own));
  EXPECT_ACL(kNull, aclmdlRICaptureBegin(nullptr, kGlobal));
  EXPECT_ACL(kDead, aclmdlRICaptureBegin(kForged, Unlisted<aclmdlRICaptureMode>(3)));
  EXPECT_ACL(kBad, aclmdlRICaptureBegin(foreign, Unlisted<aclmdlRICaptureMode>(3)));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclmdlRICaptureBegin(foreign, kGlobal));
  EXPECT_ACL(kRefused, aclmdlRICaptureBegin(own, kGlobal));
  EXPECT_TRUE(MessageHas("default stream"));
  EXPECT_ACL(kRefused, aclmdlRICaptureBegin(stream, kGlobal));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclmdlRICaptureBegin(stream, kGlobal)); });
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream)) << "a refused Begin leaves the stream alone";
}

TEST_F(Capture, StreamsThatTheHostDoesNotDriveHaveACodeOfTheirOwn) {
  constexpr int kInternal = ACL_ERROR_RT_INTERNAL_ERROR;
  for (const std::uint32_t flag : {ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStreamWithConfig(&stream, 0, flag));
    EXPECT_ACL(kBad, aclmdlRICaptureBegin(stream, Unlisted<aclmdlRICaptureMode>(3)))
        << "the mode comes first";
    EXPECT_ACL(kInternal, aclmdlRICaptureBegin(stream, kGlobal)) << flag;
    EXPECT_TRUE(MessageHas("captured"));
    EXPECT_ACL(kInternal, aclmdlRICaptureEnd(stream, nullptr)) << "the stream comes before modelRI";
    OnNewThread(
        [&] { EXPECT_ACL(kInternal, aclmdlRICaptureBegin(stream, kGlobal)) << "and before the context"; });
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  }
  aclrtStream persistent = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStreamWithConfig(&persistent, 0, ACL_STREAM_PERSISTENT));
  EXPECT_ACL(kRefused, aclmdlRICaptureBegin(persistent, kGlobal));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(persistent));
}

TEST_F(Capture, WhatNeedsACaptureSaysThatThereIsNone) {
  Stream stream;
  aclmdlRI model = kForged;
  aclrtTaskGrp group = kForged;
  EXPECT_ACL(kNull, aclmdlRICaptureEnd(nullptr, &model));
  EXPECT_ACL(kBad, aclmdlRICaptureEnd(stream, nullptr));
  EXPECT_ACL(kNotCapturing, aclmdlRICaptureEnd(stream, &model));
  EXPECT_ACL(kNull, aclmdlRICaptureTaskGrpBegin(nullptr));
  EXPECT_ACL(kNotCapturing, aclmdlRICaptureTaskGrpBegin(stream));
  EXPECT_ACL(kNull, aclmdlRICaptureTaskGrpEnd(stream, nullptr));
  EXPECT_ACL(kDead, aclmdlRICaptureTaskGrpEnd(kForged, &group));
  EXPECT_ACL(kNotCapturing, aclmdlRICaptureTaskGrpEnd(stream, &group));
  aclmdlRICondTaskParams condition = {nullptr, ACL_MODEL_RI_COND_TYPE_IF, 1, &model};
  EXPECT_ACL(kNull, aclmdlRIAddCondTask(condition, stream, 0));
  condition.handle = kForged;
  EXPECT_ACL(kBad, aclmdlRIAddCondTask(condition, stream, 1));
  EXPECT_ACL(kNotCapturing, aclmdlRIAddCondTask(condition, stream, 0));
}

TEST_F(Capture, EachThreadExchangesItsOwnMode) {
  aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  ASSERT_ACL(ACL_SUCCESS, aclmdlRICaptureThreadExchangeMode(&mode));
  EXPECT_EQ(mode, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  OnNewThread([] {
    aclmdlRICaptureMode other = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclmdlRICaptureThreadExchangeMode(&other));
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_ACL(ACL_SUCCESS, aclmdlRICaptureThreadExchangeMode(&other));
    EXPECT_EQ(other, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  });
  mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  ASSERT_ACL(ACL_SUCCESS, aclmdlRICaptureThreadExchangeMode(&mode));
  EXPECT_EQ(mode, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  mode = Unlisted<aclmdlRICaptureMode>(3);
  EXPECT_ACL(kBad, aclmdlRICaptureThreadExchangeMode(&mode));
  EXPECT_ACL(kNull, aclmdlRICaptureThreadExchangeMode(nullptr));
}

TEST_F(Capture, NoModelExists) {
  Stream stream;
  char name[8] = {};
  std::uint32_t number = 0;
  EXPECT_ACL(kNull, aclmdlRIExecuteAsync(nullptr, stream));
  EXPECT_ACL(kDead, aclmdlRIExecuteAsync(kForged, stream));
  EXPECT_ACL(kNull, aclmdlRIExecute(nullptr, 0));
  EXPECT_ACL(kBad, aclmdlRIExecute(kForged, 0));
  EXPECT_ACL(kBad, aclmdlRIExecute(kForged, -2));
  EXPECT_ACL(kDead, aclmdlRIExecute(kForged, -1));
  for (const auto call : {aclmdlRIAbort, aclmdlRIDestroy, aclmdlRIUpdate, aclmdlRIDebugPrint}) {
    EXPECT_ACL(kNull, call(nullptr));
    EXPECT_ACL(kDead, call(kForged));
  }
  EXPECT_ACL(kNull, aclmdlRIDebugJsonPrint(kForged, nullptr, ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE));
  EXPECT_ACL(kDead, aclmdlRIDebugJsonPrint(kForged, "graph.json", ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE));
  EXPECT_ACL(kNull, aclmdlRISetName(kForged, nullptr));
  EXPECT_ACL(kDead, aclmdlRISetName(kForged, "graph"));
  EXPECT_ACL(kNull, aclmdlRIGetName(kForged, 8, nullptr));
  EXPECT_ACL(kDead, aclmdlRIGetName(kForged, 8, name));
  EXPECT_ACL(kNull, aclmdlRIGetId(kForged, nullptr));
  EXPECT_ACL(kDead, aclmdlRIGetId(kForged, &number));
  EXPECT_ACL(kDead, aclmdlRIDestroyRegisterCallback(kForged, nullptr, nullptr));
  EXPECT_ACL(kDead, aclmdlRIDestroyUnregisterCallback(kForged, nullptr));
  EXPECT_ACL(kDead, aclmdlRIGetStreams(kForged, nullptr, &number));
  EXPECT_ACL(kNull, aclmdlRIBindStream(kForged, nullptr, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_ACL(kDead, aclmdlRIBindStream(kForged, stream, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_ACL(kDead, aclmdlRIUnbindStream(kForged, stream));
  EXPECT_ACL(kDead, aclmdlRIEndTask(kForged, stream));
  EXPECT_ACL(kNull, aclmdlRIBuildEnd(kForged, name));
  EXPECT_ACL(kDead, aclmdlRIBuildEnd(kForged, nullptr));
  EXPECT_ACL(kDead, aclmdlRICaptureToModelRIBegin(stream, kForged, kGlobal));
}

TEST_F(Capture, NoRecordedTaskOrConditionExists) {
  aclmdlRITaskType type = ACL_MODEL_RI_TASK_DEFAULT;
  aclmdlRITaskParams params{};
  aclrtLaunchKernelAttrValue value{};
  aclmdlRICondHandle condition = nullptr;
  std::uint64_t* word = nullptr;
  std::uint32_t number = 0;
  EXPECT_ACL(kNull, aclmdlRITaskGetType(nullptr, &type));
  EXPECT_ACL(kDead, aclmdlRITaskGetType(kForged, &type));
  EXPECT_ACL(kDead, aclmdlRITaskGetSeqId(kForged, &number));
  EXPECT_ACL(kNull, aclmdlRITaskGetParams(kForged, nullptr));
  EXPECT_ACL(kDead, aclmdlRITaskGetParams(kForged, &params));
  EXPECT_ACL(kDead, aclmdlRITaskSetParams(kForged, &params));
  EXPECT_ACL(kDead, aclmdlRITaskDisable(kForged));
  EXPECT_ACL(kDead, aclmdlRIKernelTaskGetAttribute(kForged, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, &value));
  EXPECT_ACL(kDead,
             aclmdlRICondHandleCreate(kForged, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition));
  EXPECT_ACL(kNull, aclmdlRICondHandleGetCondPtr(kForged, nullptr));
  EXPECT_ACL(kDead, aclmdlRICondHandleGetCondPtr(kForged, &word));
}

TEST_F(Capture, ModelsCannotBeBuiltOrUpdated) {
  Stream stream;
  aclmdlRI model = nullptr;
  std::uint32_t number = 7;
  EXPECT_ACL(kNull, aclmdlRIBuildBegin(nullptr, 0));
  EXPECT_ACL(kRefused, aclmdlRIBuildBegin(&model, 0));
  EXPECT_ACL(kNull, aclmdlRICaptureTaskUpdateBegin(stream, nullptr));
  EXPECT_ACL(kDead, aclmdlRICaptureTaskUpdateBegin(kForged, kForged));
  EXPECT_ACL(kRefused, aclmdlRICaptureTaskUpdateBegin(stream, kForged));
  EXPECT_ACL(kRefused, aclmdlRICaptureTaskUpdateEnd(stream));
  EXPECT_ACL(kNull, aclmdlRIGetTasksByStream(stream, nullptr, nullptr));
  EXPECT_ACL(kRefused, aclmdlRIGetTasksByStream(stream, nullptr, &number));
  EXPECT_EQ(number, 7U);
}

}  // namespace
}  // namespace sampan::test::capture_test
