// The ends of threads and of the process while work is in flight.
// Rules of docs/BEHAVIOUR.md: process-4.
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

// Every test here ends a process, so each has one of its own.
namespace sampan::test::process_exit_test {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;
constexpr int kExitCode = 33;

/// Memory and a stream that are never freed.
struct Leftovers {
  void* device = nullptr;
  void* pinned = nullptr;
  aclrtStream stream = nullptr;

  Leftovers() {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL(ACL_SUCCESS, aclrtMallocHost(&pinned, kBytes));
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  }
  void QueueCopies(int count) const {
    for (int i = 0; i < count; ++i) {
      EXPECT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsync(device, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    }
  }
  void HoldForEver() const {
    const auto sleep = [](void*) {
      std::mutex mutex;
      std::condition_variable never;
      std::unique_lock lock(mutex);
      never.wait(lock, [] { return false; });
    };
    EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, sleep, nullptr));
  }
};

void ExpectExit(const ChildResult& child) {
  EXPECT_FALSE(child.timed_out) << child;
  EXPECT_EQ(child.exit_code, kExitCode) << child;
}

TEST(ProcessExit, WithCopiesInFlight) {
  if (InChild()) {
    Leftovers().QueueCopies(100);
    std::exit(kExitCode);
  }
  ExpectExit(RunInChild({}));
}

TEST(ProcessExit, WithAHostFunctionThatNeverEnds) {
  if (InChild()) {
    const Leftovers leftovers;
    leftovers.HoldForEver();
    leftovers.QueueCopies(10);
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(leftovers.stream, &status));
    std::exit(kExitCode);
  }
  ExpectExit(RunInChild({}));
}

TEST(ProcessExit, WhileAThreadSynchronises) {
  if (InChild()) {
    const Leftovers leftovers;
    leftovers.HoldForEver();
    std::thread([&] {
      EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
      aclrtSynchronizeStream(leftovers.stream);
    }).detach();
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(leftovers.stream, 20));
    std::exit(kExitCode);
  }
  ExpectExit(RunInChild({}));
}

TEST(ProcessExit, AtOnceWithCopiesInFlight) {
  if (InChild()) {
    Leftovers().QueueCopies(100);
    std::quick_exit(kExitCode);
  }
  ExpectExit(RunInChild({}));
}

TEST(ProcessExit, WithEverythingLeftBehind) {
  if (InChild()) {
    EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
    const Leftovers leftovers;
    aclrtContext context = nullptr;
    aclrtEvent event = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 1));
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateEvent(&event));
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, nullptr));
    std::exit(::testing::Test::HasFailure() ? 1 : kExitCode);
  }
  ExpectExit(RunInChild({}));
}

TEST(ProcessExit, CallsDuringStaticDestructionDoNotCrash) {
  if (InChild()) {
    static const Leftovers leftovers;
    std::atexit([] {
      if (aclrtSynchronizeStream(leftovers.stream) == ACL_SUCCESS) aclrtDestroyStream(leftovers.stream);
      aclrtFree(leftovers.device);
      aclrtFreeHost(leftovers.pinned);
      aclrtResetDevice(0);
    });
    leftovers.QueueCopies(10);
    std::exit(kExitCode);
  }
  ExpectExit(RunInChild({}));
}

TEST(Finalize, WithWorkInFlight) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  {
    Stream stream;
    const DeviceBuffer device(1);
    const PinnedBuffer pinned(1);
    device.Write(0, Bytes{std::byte{3}});
    *pinned.at(0) = std::byte{0};
    {
      const Gate gate(stream);
      EXPECT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsync(pinned.data(), 1, device.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
      EXPECT_ACL(ACL_SUCCESS, aclFinalize());
      EXPECT_FALSE(gate.passed());
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream)) << "streams live on";
    EXPECT_EQ(*pinned.at(0), std::byte{3});
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(ThreadExit, LeavesItsStreamsRunning) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer device(1);
  const PinnedBuffer pinned(1);
  device.Write(0, Bytes{std::byte{3}});
  *pinned.at(0) = std::byte{0};
  aclrtStream stream = nullptr;
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(pinned.data(), 1, device.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  });
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(*pinned.at(0), std::byte{3});
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
}

TEST(ThreadExit, DoesNotResetItsDevice) {
  if (DoneInChild()) return;
  OnNewThread([] { EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0)); });
  std::int32_t active = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetPrimaryCtxState(0, nullptr, &active));
  EXPECT_EQ(active, 1);
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(ThreadExit, ManyThreadsComeAndGo) {
  if (DoneInChild()) return;
  for (int i = 0; i < 200; ++i) {
    OnNewThread([] {
      EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
      EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
      EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
    });
  }
}

}  // namespace
}  // namespace sampan::test::process_exit_test
