// Work that fails while it executes: who is told, how often, and what happens to the work behind it.
// Rules of docs/BEHAVIOUR.md: stream-2, stream-3, stream-8.
#include <gtest/gtest.h>

#include <cstdint>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::stream_failure_test {
namespace {

/// Queues a copy whose memory is gone before it may start, with a fill behind it.
class FailingStream : public DeviceTest {
 protected:
  static constexpr int kFill = 0x21;

  /// The fill goes to `behind`, one byte.
  static void QueueFailure(aclrtStream stream, const DeviceBuffer& behind) {
    DeviceBuffer dst(64), src(64);
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(dst.data(), 64, src.data(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(behind.data(), 1, kFill, 1, stream));
    dst.Free();
  }
  static bool Filled(const DeviceBuffer& buffer) {
    return buffer.Read(0, 1) == Bytes{static_cast<std::byte>(kFill)};
  }
};

TEST_F(FailingStream, ReportsOnce) {
  Stream stream;
  DeviceBuffer behind(1);
  QueueFailure(stream, behind);
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
}

TEST_F(FailingStream, ReportNamesTheFreedAllocation) {
  Stream stream;
  DeviceBuffer src(96);
  void* freed = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&freed, 96, ACL_MEM_MALLOC_HUGE_FIRST));
  {
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(freed, 96, src.data(), 96, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(freed));
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(MessageHas(Hex(freed)));
  EXPECT_TRUE(MessageHas("freed"));
}

TEST_F(FailingStream, ReportsToAQuery) {
  Stream stream;
  DeviceBuffer behind(1);
  QueueFailure(stream, behind);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  aclError answer = ACL_SUCCESS;
  while (answer == ACL_SUCCESS && status == ACL_STREAM_STATUS_NOT_READY) {
    answer = aclrtStreamQuery(stream, &status);
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, answer);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream)) << "the query has taken the report";
}

TEST_F(FailingStream, ReportsToASynchroniserWithATimeout) {
  Stream stream;
  DeviceBuffer behind(1);
  QueueFailure(stream, behind);
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStreamWithTimeout(stream, 5000));
}

TEST_F(FailingStream, ReportsToAPageableCopy) {
  Stream stream;
  DeviceBuffer behind(1);
  QueueFailure(stream, behind);
  PageableBuffer pageable(1);
  *pageable.at(0) = std::byte{9};
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA,
             aclrtMemcpyAsync(behind.data(), 1, pageable.data(), 1, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}

TEST_F(FailingStream, GoesOnByDefault) {
  Stream stream;
  DeviceBuffer behind(1);
  QueueFailure(stream, behind);
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(Filled(behind));
}

TEST_F(FailingStream, DoesNotDisturbOtherStreams) {
  Stream failing, other;
  DeviceBuffer behind(1), of_other(1);
  QueueFailure(failing, behind);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(of_other.data(), 1, kFill, 1, other));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(other));
  EXPECT_TRUE(Filled(of_other));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(failing));
}

TEST_F(FailingStream, LetsAnEventBehindTheFailureComplete) {
  Stream stream;
  DeviceBuffer behind(1);
  Event event;
  QueueFailure(stream, behind);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEventWithTimeout(event, 5000));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
}

// ---- the whole device ----

TEST_F(FailingStream, SynchronisingTheDeviceReportsOneAndLeavesTheOthers) {
  Stream first, second;
  DeviceBuffer behind(2);
  QueueFailure(first, behind);
  QueueFailure(second, behind);
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeDevice());
  int told = 0;
  for (const aclrtStream stream : {first.get(), second.get()})
    told += aclrtSynchronizeStream(stream) == ACL_ERROR_RT_SYS_DMA ? 1 : 0;
  EXPECT_EQ(told, 1) << "the other one";
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
}

TEST_F(FailingStream, IsNotForgottenWhenAnotherStreamTakesTooLong) {
  for (const bool held_is_older : {false, true}) {
    Stream first, second;
    const aclrtStream failing = held_is_older ? second : first, held = held_is_older ? first : second;
    DeviceBuffer behind(1);
    QueueFailure(failing, behind);
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStreamWithTimeout(failing, 5000));
    QueueFailure(failing, behind);
    Gate gate(held);
    // Whichever of the two it tells of, the other one is told later.
    const aclError answer = aclrtSynchronizeDeviceWithTimeout(50);
    const aclError left = aclrtSynchronizeStreamWithTimeout(failing, 5000);
    EXPECT_TRUE((answer == ACL_ERROR_RT_SYS_DMA && left == ACL_SUCCESS) ||
                (answer == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT && left == ACL_ERROR_RT_SYS_DMA))
        << answer << ", then " << left;
  }
}

// ---- stop on failure ----

/// In a context of its own, because there a failure stays.
class StoppingStream : public FailingStream {
 protected:
  void SetUp() override {
    FailingStream::SetUp();
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateContext(&context_, 0));
  }
  void TearDown() override {
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context_));
    FailingStream::TearDown();
  }
  static aclrtStream MakeStream() {
    aclrtStream stream = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    return stream;
  }

  aclrtContext context_ = nullptr;
};

TEST_F(StoppingStream, DropsTheWorkBehind) {
  const aclrtStream stream = MakeStream();
  DeviceBuffer behind(1);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(behind.data(), 1, 0, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
  QueueFailure(stream, behind);
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  aclrtContext own = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&own));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_FALSE(Filled(behind));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(own));
}

TEST_F(StoppingStream, KeepsTheContextInFailure) {
  const aclrtStream stream = MakeStream(), other = MakeStream();
  DeviceBuffer behind(1), of_other(1);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
  QueueFailure(stream, behind);
  for (int i = 0; i < 2; ++i) {
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(other)) << "every stream of the context";
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtMemsetAsync(of_other.data(), 1, kFill, 1, other)) << "no new work";
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtMemsetAsync(of_other.data(), 1, kFill, 1, stream));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtMemsetAsync(of_other.data(), 1, kFill, 1, nullptr));
  Event unrecorded;
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtStreamWaitEvent(other, unrecorded));
}

TEST_F(StoppingStream, LeavesOtherContextsAlone) {
  const aclrtStream stream = MakeStream();
  DeviceBuffer behind(1);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
  QueueFailure(stream, behind);
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(behind.data(), 1, kFill, 1, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(Filled(behind));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST_F(StoppingStream, WithoutAFailureIsLikeAnyOther) {
  const aclrtStream stream = MakeStream();
  DeviceBuffer buffer(1);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(buffer.data(), 1, kFill, 1, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(Filled(buffer));
}

// ---- setting the mode ----

class FailureMode : public DeviceTest {};

TEST_F(FailureMode, CannotGoBack) {
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE)) << "the same again is fine";
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
}

TEST_F(FailureMode, IsTheLowestBit) {
  Stream stream;
  aclrtStreamAttrValue value = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, 2));
  EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
  EXPECT_EQ(value.failureMode, ACL_CONTINUE_ON_FAILURE);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, 3));
  EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
  EXPECT_EQ(value.failureMode, ACL_STOP_ON_FAILURE);
}

TEST_F(FailureMode, OfTheDefaultStreamNeedsAContext) {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(nullptr, ACL_CONTINUE_ON_FAILURE));
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamFailureMode(nullptr, ACL_STOP_ON_FAILURE));
  });
}

}  // namespace
}  // namespace sampan::test::stream_failure_test
