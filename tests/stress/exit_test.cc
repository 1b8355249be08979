// Processes that end while work is in flight.
#include <unistd.h>

#include <cstdlib>

#include "tests/stress/stress_fixture.h"

namespace sampan::stress::exit_test {
namespace {

constexpr std::size_t kBytes = 1 << 20;

/// Each case runs in a new process, because the parent has threads.
class Exit : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

aclrtStream BusyStream(int copies) {
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  void *host = nullptr, *device = nullptr;
  aclrtCreateStream(&stream);
  aclrtMallocHost(&host, kBytes);
  aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  for (int i = 0; i < copies; ++i) {
    if (aclrtMemcpyAsync(device, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream) != ACL_SUCCESS)
      _exit(3);
  }
  return stream;
}

TEST_F(Exit, WithCopiesQueued) {
  EXPECT_EXIT(
      {
        BusyStream(200);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, WithAStreamThatIsHeldForEver) {
  EXPECT_EXIT(
      {
        aclrtSetDevice(0);
        aclrtStream stream = nullptr;
        aclrtCreateStream(&stream);
        aclrtLaunchHostFunc(
            stream, [](void*) { pause(); }, nullptr);
        void* device = nullptr;
        aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemsetAsync(device, kBytes, 1, kBytes, stream);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, WhileAnotherThreadWaits) {
  EXPECT_EXIT(
      {
        aclrtSetDevice(0);
        aclrtStream stream = nullptr;
        aclrtCreateStream(&stream);
        aclrtLaunchHostFunc(
            stream, [](void*) { pause(); }, nullptr);
        std::thread([stream] { aclrtSynchronizeStream(stream); }).detach();
        usleep(20000);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, WhileAnotherThreadSubmits) {
  EXPECT_EXIT(
      {
        const aclrtStream stream = BusyStream(10);
        std::thread([stream] {
          aclrtSetDevice(0);
          void* device = nullptr;
          aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST);
          for (;;)
            aclrtMemsetAsync(device, 64, 1, 64, stream);
        }).detach();
        usleep(20000);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, AfterAFinalizeWithCopiesQueued) {
  EXPECT_EXIT(
      {
        if (aclInit(nullptr) != ACL_SUCCESS) _exit(4);
        BusyStream(100);
        if (aclFinalize() != ACL_SUCCESS) _exit(5);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sampan::stress::exit_test
