// Which context a thread has, and what streams of another context may be used for.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <future>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::thread_context_test {
namespace {

aclrtContext CurrentContext() {
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&context));
  return context;
}

void ExpectNoContext() {
  std::int32_t device = -1;
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  void* memory = nullptr;
  std::size_t free = 0, total = 0;
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMallocHost(&memory, 64));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
}

class ThreadContext : public DeviceTest {};

TEST_F(ThreadContext, IsNotInherited) {
  OnNewThread([] { ExpectNoContext(); });
}

TEST_F(ThreadContext, ExplicitContextIsNotInherited) {
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  OnNewThread([] { ExpectNoContext(); });
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
}

TEST_F(ThreadContext, DeviceOfAnotherThreadDoesNotMatter) {
  OnNewThread([] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
    std::int32_t device = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
    EXPECT_EQ(device, 1);
  });
  std::int32_t device = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
  EXPECT_EQ(device, 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
}

TEST_F(ThreadContext, CanBeSharedByItsHandle) {
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 1));
  aclrtStream stream = nullptr;
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(context));
    EXPECT_EQ(CurrentContext(), context);
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  });
  DeviceBuffer buffer(64);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(buffer.data(), 64, 1, 64, stream)) << "the same context";
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  buffer.Free();
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
}

TEST_F(ThreadContext, SetDeviceReplacesAnExplicitContext) {
  const aclrtContext primary = CurrentContext();
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  EXPECT_EQ(CurrentContext(), context);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_EQ(CurrentContext(), primary);
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
  EXPECT_EQ(CurrentContext(), primary);
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST_F(ThreadContext, IsGoneWithADestroyedExplicitContext) {
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
  ExpectNoContext();  // although the device was set before
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  std::int32_t device = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST_F(ThreadContext, IsGoneWhenAnotherThreadDestroysIt) {
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
  OnNewThread([&] { EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context)); });
  ExpectNoContext();
}

TEST_F(ThreadContext, ExplicitContextOutlivesTheReset) {
  OnNewThread([] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
    aclrtContext context = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 1));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
    EXPECT_EQ(CurrentContext(), context);
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
  });
}

// ---- calls that need no context ----

TEST_F(ThreadContext, IsNotNeededToFreeOrToAsk) {
  DeviceBuffer buffer(64);
  void* memory = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  Stream stream;
  Event event;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  OnNewThread([&] {
    aclrtPtrAttributes attributes{};
    EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(buffer.data(), &attributes));
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(event));
    std::size_t bytes = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &bytes));
  });
}

// ---- streams of another context ----

/// The thread has the primary context of device 0; the stream belongs to another one.
class ForeignContextStream : public DeviceTest {};

TEST_F(ForeignContextStream, TakesNoWork) {
  ForeignStream foreign;
  Event event;
  DeviceBuffer dst(64), src(64);
  PinnedBuffer pinned(64);
  const auto nothing = [](void*) {};
  const std::function<aclError()> submissions[] = {
      [&] { return aclrtMemcpyAsync(dst.data(), 64, src.data(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, foreign); },
      [&] { return aclrtMemcpyAsync(dst.data(), 64, pinned.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE, foreign); },
      [&] { return aclrtMemsetAsync(dst.data(), 64, 0, 64, foreign); },
      [&] { return aclrtRecordEvent(event, foreign); },
      [&] { return aclrtStreamWaitEvent(foreign, event); },
      [&] { return aclrtResetEvent(event, foreign); },
      [&] { return aclrtLaunchHostFunc(foreign, nothing, nullptr); },
  };
  for (const auto& submit : submissions) {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, submit()) << "submission " << &submit - submissions;
  }
}

TEST_F(ForeignContextStream, CanBeWaitedForAndAsked) {
  ForeignStream foreign;
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(foreign));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(foreign, 100));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(foreign, &status));
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(ForeignContextStream, CannotBeDestroyed) {
  ForeignStream foreign;
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtDestroyStream(foreign));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSetStreamFailureMode(foreign, ACL_STOP_ON_FAILURE));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(foreign)) << "it is still there";
}

TEST_F(ForeignContextStream, WorkOfItsOwnThreadIsSeen) {
  ForeignStream foreign;
  std::promise<void> is_held, may_open;
  std::thread owner([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(foreign.context()));
    Gate gate(foreign);
    is_held.set_value();
    may_open.get_future().wait();
  });
  is_held.get_future().wait();
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(foreign, &status));
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(foreign, 10));
  may_open.set_value();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(foreign));
  owner.join();
}

}  // namespace
}  // namespace sampan::test::thread_context_test
