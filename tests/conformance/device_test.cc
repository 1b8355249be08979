// Setting, resetting and synchronising devices.
// Rules of docs/BEHAVIOUR.md: process-1.
#include <gtest/gtest.h>

#include <cstdint>
#include <future>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/return_watch.h"
#include "tests/support/stream.h"

namespace sampan::test::device_test {
namespace {

std::uint32_t DeviceCount() {
  std::uint32_t count = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&count));
  return count;
}

// ---- which devices there are ----

TEST(Device, CountNeedsAPointerOnly) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceCount(nullptr));
  EXPECT_GE(DeviceCount(), 2u) << "the tests of this suite use two devices";
}

TEST(Device, RunModeIsTheHostSide) {
  aclrtRunMode mode = ACL_DEVICE;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetRunMode(&mode));
  EXPECT_EQ(mode, ACL_HOST);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetRunMode(nullptr));
}

TEST(Device, RunModeOfAStandaloneChipIsTheDeviceSide) {
  if (DoneInChild({{"SAMPAN_PROFILE", "ascend310-rc"}})) return;
  aclrtRunMode mode = ACL_HOST;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetRunMode(&mode));
  EXPECT_EQ(mode, ACL_DEVICE);
}

TEST(Device, NameIsOneThatCallersKnow) {
  const char* name = aclrtGetSocName();
  ASSERT_NE(name, nullptr);
  EXPECT_TRUE(std::string(name).starts_with("Ascend910B")) << name;
}

TEST(Device, NameOfTheOtherProfile) {
  if (DoneInChild({{"SAMPAN_PROFILE", "ascend910c"}})) return;
  const char* name = aclrtGetSocName();
  ASSERT_NE(name, nullptr);
  EXPECT_TRUE(std::string(name).starts_with("Ascend910_93")) << name;
}

// ---- set and reset ----

TEST(SetDevice, RefusesUnknownNumbers) {
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(static_cast<std::int32_t>(DeviceCount())));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDevice(-1));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDeviceForce(-1));
}

TEST(SetDevice, MakesItCurrentOnThisThread) {
  OnNewThread([] {
    std::int32_t device = -1;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
    EXPECT_EQ(device, 1);
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
    EXPECT_EQ(device, 0);
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  });
}

TEST(SetDevice, GetDeviceNeedsAPointer) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetDevice(nullptr));
}

TEST(ResetDevice, CountsTheSets) {
  std::int32_t device = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device)) << "still held once";
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
}

TEST(ResetDevice, RefusesADeviceThatWasNeverSet) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDeviceForce(1));
}

TEST(ResetDevice, CountsTheSetsOfAllThreads) {
  std::promise<void> is_set, is_reset;
  std::thread other([&] {
    std::int32_t device = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    is_set.set_value();
    is_reset.get_future().wait();
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device)) << "its reference is stale";
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(nullptr));
  });
  is_set.get_future().wait();
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice()) << "the other thread holds it";
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  is_reset.set_value();
  other.join();
}

TEST(ResetDevice, WaitsForWork) {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  ReturnWatch watch(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_TRUE(watch.WorkWasOver());
}

TEST(ResetDevice, EndsStreamsEventsAndMemory) {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  void* memory = nullptr;
  void* pinned = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateEvent(&event));
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_SUCCESS, aclrtMallocHost(&pinned, 64));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));

  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(stream));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(event));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(memory, 64, 0, 64));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory));
  static_cast<char*>(pinned)[63] = 'x';
  EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned)) << "pinned memory belongs to no device";
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(ResetDevice, KeepsMemoryWhileAnotherContextLives) {
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  void* memory = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(context));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(memory, 64, 0, 64));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
}

TEST(ResetDeviceForce, IgnoresTheCount) {
  std::int32_t device = -1;
  for (int i = 0; i < 3; ++i)
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDeviceForce(0));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDeviceForce(0));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0)) << "it can be set again";
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(ResetDevice, LeavesOtherDevicesAlone) {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  void* memory = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  OnNewThread([] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDeviceForce(0));
  });
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(memory, 64, 0, 64));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
}

// ---- synchronise ----

class SynchronizeDevice : public DeviceTest {};

TEST_F(SynchronizeDevice, WaitsForEveryStreamOfTheContext) {
  Stream first, second;
  ReturnWatch watch_first(first), watch_second(second), watch_default(nullptr);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
  EXPECT_TRUE(watch_first.WorkWasOver());
  EXPECT_TRUE(watch_second.WorkWasOver());
  EXPECT_TRUE(watch_default.WorkWasOver());
}

TEST_F(SynchronizeDevice, DoesNotWaitForOtherContexts) {
  ForeignStream foreign;
  aclrtContext own = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&own));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(foreign.context()));
  Gate gate(foreign);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(own));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDeviceWithTimeout(2000));
}

TEST_F(SynchronizeDevice, ChecksItsTimeout) {
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(-2));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDeviceWithTimeout(-1));
}

TEST_F(SynchronizeDevice, TimeoutLeavesTheWorkAlone) {
  Stream stream;
  Gate gate(stream);
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(10));
  EXPECT_FALSE(gate.passed());
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDeviceWithTimeout(-1));
  EXPECT_TRUE(gate.passed());
}

TEST_F(SynchronizeDevice, NeedsAContext) {
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDeviceWithTimeout(10));
  });
}

TEST_F(SynchronizeDevice, ReportsAFailedTask) {
  Stream stream;
  DeviceBuffer dst(64), src(64);
  {
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(dst.data(), 64, src.data(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    src.Free();
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeDevice());
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice()) << "reported once";
}

}  // namespace
}  // namespace sampan::test::device_test
