// The functions that make, choose, describe and destroy contexts.
#include <gtest/gtest.h>

#include <cstdint>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::context_test {
namespace {

constexpr std::int32_t kNoDevice = 4711;

aclrtContext CurrentContext() {
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&context));
  return context;
}

std::int32_t StreamId(aclrtStream stream) {
  std::int32_t id = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamGetId(stream, &id));
  return id;
}

// ---- create and destroy ----

TEST(CreateContext, ChecksItsArguments) {
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateContext(nullptr, 0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtCreateContext(&context, kNoDevice));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtCreateContext(&context, -1));
}

TEST(CreateContext, MakesItCurrent) {
  OnNewThread([] {
    aclrtContext context = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 1));
    EXPECT_EQ(CurrentContext(), context);
    std::int32_t device = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device)) << "without aclrtSetDevice";
    EXPECT_EQ(device, 1);
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
  });
}

TEST(CreateContext, GivesADifferentOneEachTime) {
  OnNewThread([] {
    aclrtContext first = nullptr, second = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&first, 0));
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&second, 0));
    EXPECT_NE(first, second);
    EXPECT_EQ(CurrentContext(), second);
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(first));
    EXPECT_EQ(CurrentContext(), second) << "another one was destroyed";
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(second));
  });
}

class DestroyContext : public DeviceTest {};

TEST_F(DestroyContext, RefusesWhatIsNoContextOfTheProgram) {
  int on_stack = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyContext(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(&on_stack));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(CurrentContext())) << "the primary context";
  Stream stream;
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(stream));
}

TEST_F(DestroyContext, WorksOnce) {
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(context));
}

TEST_F(DestroyContext, EndsItsStreamsAndEventsWithoutWaiting) {
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateEvent(&event));
  Gate gate(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
  EXPECT_FALSE(gate.passed());
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeEvent(event));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST_F(DestroyContext, KeepsMemoryOfTheDevice) {
  aclrtContext context = nullptr;
  void* memory = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory)) << "the primary context still lives";
}

// ---- current context ----

class CurrentContextOfThread : public DeviceTest {};

TEST_F(CurrentContextOfThread, SetRefusesWhatIsNoContext) {
  int on_stack = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetCurrentContext(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(&on_stack));
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(context)) << "destroyed";
}

TEST_F(CurrentContextOfThread, RefusalKeepsTheFormerOne) {
  int on_stack = 0;
  const aclrtContext before = CurrentContext();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(&on_stack));
  EXPECT_EQ(CurrentContext(), before);
}

TEST_F(CurrentContextOfThread, GetStoresNullWhenThereIsNone) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetCurrentContext(nullptr));
  OnNewThread([] {
    int on_stack = 0;
    aclrtContext context = &on_stack;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context));
    EXPECT_EQ(context, nullptr) << "callers read it all the same";
  });
}

TEST_F(CurrentContextOfThread, PrimaryContextCanBeSetByItsHandle) {
  const aclrtContext primary = CurrentContext();
  OnNewThread([=] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(primary));
    std::int32_t device = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
    EXPECT_EQ(device, 0);
    EXPECT_EQ(CurrentContext(), primary);
  });
}

TEST_F(CurrentContextOfThread, PrimaryContextIsOnePerDevice) {
  const aclrtContext first = CurrentContext();
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_EQ(CurrentContext(), first);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  EXPECT_NE(CurrentContext(), first);
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(PrimaryContextState, FollowsSetAndReset) {
  std::int32_t active = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetPrimaryCtxState(1, nullptr, &active));
  EXPECT_EQ(active, 0);
  OnNewThread([] { EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1)); });
  EXPECT_ACL(ACL_SUCCESS, aclrtGetPrimaryCtxState(1, nullptr, &active));
  EXPECT_EQ(active, 1) << "the state of the process, not of the thread";
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  EXPECT_ACL(ACL_SUCCESS, aclrtGetPrimaryCtxState(1, nullptr, &active));
  EXPECT_EQ(active, 0);
}

TEST(PrimaryContextState, IsNotChangedByOtherContexts) {
  OnNewThread([] {
    aclrtContext context = nullptr;
    std::int32_t active = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 1));
    EXPECT_ACL(ACL_SUCCESS, aclrtGetPrimaryCtxState(1, nullptr, &active));
    EXPECT_EQ(active, 0);
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
  });
}

TEST(PrimaryContextState, ChecksItsArguments) {
  std::int32_t active = -1;
  std::uint32_t flags = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetPrimaryCtxState(0, &flags, &active)) << "flags must be NULL";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetPrimaryCtxState(0, nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetPrimaryCtxState(kNoDevice, nullptr, &active));
}

// ---- the default stream ----

class DefaultStream : public DeviceTest {};

TEST_F(DefaultStream, HasAHandle) {
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&stream));
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(StreamId(stream), StreamId(nullptr));
  aclrtStream again = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&again));
  EXPECT_EQ(again, stream);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCtxGetCurrentDefaultStream(nullptr));
  OnNewThread([] {
    aclrtStream none = nullptr;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCtxGetCurrentDefaultStream(&none));
  });
}

TEST_F(DefaultStream, IsWhatNullMeans) {
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&stream));
  Gate gate(nullptr);
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(gate.passed());
}

TEST_F(DefaultStream, IsOnePerContext) {
  const std::int32_t of_primary = StreamId(nullptr);
  Gate gate(nullptr);
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  EXPECT_NE(StreamId(nullptr), of_primary);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(nullptr, 2000)) << "this one is idle";
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
}

TEST_F(DefaultStream, DoesNotWaitForOtherStreams) {
  Stream stream;
  Gate gate(stream);
  DeviceBuffer buffer(64);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(buffer.data(), 64, 1, 64, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(nullptr, 2000));
}

TEST_F(DefaultStream, CannotBeDestroyed) {
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&stream));
  EXPECT_NE(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_NE(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
}

// ---- options ----

class SysParamOpt : public DeviceTest {};

TEST_F(SysParamOpt, OfAContextIsKept) {
  std::int64_t value = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT_EQ(value, 1);
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT_EQ(value, 0);
}

TEST_F(SysParamOpt, OfAContextIsItsOwn) {
  const aclrtContext primary = CurrentContext();
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxSetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, 1));
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxSetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(primary));
  std::int64_t value = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtCtxGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, &value));
  EXPECT_EQ(value, 1);
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
}

TEST_F(SysParamOpt, OfTheProcessIsKept) {
  std::int64_t value = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
  OnNewThread([&] { EXPECT_ACL(ACL_SUCCESS, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value)); });
  EXPECT_EQ(value, 1) << "any thread sees it, without a context";
  EXPECT_ACL(ACL_SUCCESS, aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0));
}

TEST_F(SysParamOpt, ChecksItsArguments) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr));
  OnNewThread([] {
    std::int64_t value = -1;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  });
}

}  // namespace
}  // namespace sampan::test::context_test
