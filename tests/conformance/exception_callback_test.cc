// Functions that are told of every task that fails.
// Rules of docs/BEHAVIOUR.md: callback-2.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::exception_callback_test {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

/// What the registered functions were told; they have no argument for a place of their own. Thread-safe.
struct Reports {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  std::uint32_t device = kNone;
  std::uint32_t stream = kNone;
  std::uint32_t code = kNone;

  static Reports& The() {
    static Reports reports;
    return reports;
  }
  static void Note(aclrtExceptionInfo* info) {
    Reports& reports = The();
    const std::lock_guard lock(reports.mutex);
    ++reports.count;
    reports.device = aclrtGetDeviceIdFromExceptionInfo(info);
    reports.stream = aclrtGetStreamIdFromExceptionInfo(info);
    reports.code = aclrtGetErrorCodeFromExceptionInfo(info);
    reports.changed.notify_all();
  }
  bool Await(int wanted) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(10), [&] { return count >= wanted; });
  }
};

class ExceptionCallback : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (aclrtExceptionInfoCallbackRegister(&Reports::Note) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
      GTEST_SKIP() << "this runtime has no exception callbacks";
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtExceptionInfoCallbackUnregister(&Reports::Note));
    const std::lock_guard lock(Reports::The().mutex);
    Reports::The().count = 0;
  }
  static void Fail(aclrtStream stream) {
    DeviceBuffer dst(64), src(64);
    {
      const Gate gate(stream);
      EXPECT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsync(dst.data(), 64, src.data(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
      dst.Free();
    }
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  }
};

TEST_F(ExceptionCallback, MustBeAFunction) {
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtExceptionInfoCallbackRegister(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtExceptionInfoCallbackUnregister(nullptr));
}

TEST(ExceptionInfo, GettersOfNothing) {
  EXPECT_EQ(aclrtGetTaskIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetStreamIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetThreadIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetDeviceIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetErrorCodeFromExceptionInfo(nullptr), kNone);
}

TEST_F(ExceptionCallback, IsToldOfAFailure) {
  Stream stream;
  std::int32_t id = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamGetId(stream, &id));
  EXPECT_ACL(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(&Reports::Note));
  Fail(stream);
  EXPECT_TRUE(Reports::The().Await(1));
  {
    const std::lock_guard lock(Reports::The().mutex);
    EXPECT_EQ(Reports::The().device, 0u);
    EXPECT_EQ(Reports::The().stream, static_cast<std::uint32_t>(id));
    EXPECT_NE(Reports::The().code, 0u);
    EXPECT_NE(Reports::The().code, kNone);
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtExceptionInfoCallbackUnregister(&Reports::Note));
}

TEST_F(ExceptionCallback, IsNotToldAfterItWasWithdrawn) {
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(&Reports::Note));
  EXPECT_ACL(ACL_SUCCESS, aclrtExceptionInfoCallbackUnregister(&Reports::Note));
  Fail(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
  const std::lock_guard lock(Reports::The().mutex);
  EXPECT_EQ(Reports::The().count, 0);
}

}  // namespace
}  // namespace sampan::test::exception_callback_test
