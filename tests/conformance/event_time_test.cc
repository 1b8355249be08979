// The times that events keep.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/flagged_event.h"
#include "tests/support/stream.h"

namespace sampan::test::event_time_test {
namespace {

constexpr std::chrono::milliseconds kWorkTime{5};

void Work(void*) {
  std::this_thread::sleep_for(kWorkTime);
}

class EventTime : public DeviceTest {
 protected:
  static float Elapsed(aclrtEvent start, aclrtEvent end) {
    float milliseconds = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtEventElapsedTime(&milliseconds, start, end));
    return milliseconds;
  }
  static std::uint64_t Timestamp(aclrtEvent event) {
    std::uint64_t microseconds = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtEventGetTimestamp(event, &microseconds));
    return microseconds;
  }
};

TEST_F(EventTime, ElapsedIsTheTimeBetweenTheRecords) {
  Stream stream;
  Event start, end;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(start, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, &Work, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(end, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  const std::chrono::duration<float, std::milli> whole = std::chrono::steady_clock::now() - before;
  const float elapsed = Elapsed(start, end);
  EXPECT_GE(elapsed, static_cast<float>(kWorkTime.count()) - 0.1f);
  EXPECT_LE(elapsed, whole.count() + 0.1f) << "no longer than the host saw";
}

TEST_F(EventTime, ElapsedBackwardsIsNegative) {
  Stream stream;
  Event start, end;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(start, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, &Work, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(end, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_LT(Elapsed(end, start), 0.0f);
  EXPECT_NEAR(Elapsed(end, start), -Elapsed(start, end), 1e-3);
  EXPECT_EQ(Elapsed(start, start), 0.0f);
}

TEST_F(EventTime, ElapsedSpansStreams) {
  Stream first, second;
  Event start, middle, end;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(start, first));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(first, &Work, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(middle, first));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(second, middle));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(end, second));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(second));
  EXPECT_GE(Elapsed(start, end), static_cast<float>(kWorkTime.count()) - 0.1f);
}

TEST_F(EventTime, TimestampIsInMicroseconds) {
  Stream stream;
  Event start, end;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(start, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, &Work, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(end, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  ASSERT_GT(Timestamp(end), Timestamp(start));
  const auto microseconds = static_cast<double>(Timestamp(end) - Timestamp(start));
  EXPECT_NEAR(microseconds, 1000.0 * static_cast<double>(Elapsed(start, end)), 2.0);
}

TEST_F(EventTime, IsTheTimeOfTheLatestRecord) {
  Stream stream;
  const FlaggedEvent event(EventKind::kEx, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  const std::uint64_t first = Timestamp(event);
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, &Work, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_GE(Timestamp(event), first + 4900);
}

TEST_F(EventTime, PointersAreNeeded) {
  Event event;
  float milliseconds = 0;
  std::uint64_t timestamp = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventElapsedTime(nullptr, event, event));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventElapsedTime(&milliseconds, nullptr, event));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventElapsedTime(&milliseconds, event, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventGetTimestamp(event, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtEventGetTimestamp(nullptr, &timestamp));
}

TEST_F(EventTime, NeedsRecords) {
  Stream stream;
  Event recorded, other;
  float milliseconds = 0;
  std::uint64_t timestamp = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(recorded, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventElapsedTime(&milliseconds, recorded, other));
  EXPECT_TRUE(MessageHas("endEvent was never recorded"));
  EXPECT_ACL(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventElapsedTime(&milliseconds, other, recorded));
  EXPECT_TRUE(MessageHas("startEvent was never recorded"));
  EXPECT_ACL(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventGetTimestamp(other, &timestamp));
}

TEST_F(EventTime, NeedsRecordsThatAreReached) {
  Stream stream;
  Event start, end;
  float milliseconds = 0;
  std::uint64_t timestamp = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(start, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  const Gate gate(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(end, stream));
  EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&milliseconds, start, end));
  EXPECT_TRUE(MessageHas("endEvent is not reached yet"));
  EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&milliseconds, end, start));
  EXPECT_TRUE(MessageHas("startEvent is not reached yet"));
  EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventGetTimestamp(end, &timestamp));
}

TEST_F(EventTime, NeedsTheFlag) {
  Stream stream;
  float milliseconds = 0;
  std::uint64_t timestamp = 0;
  for (const EventKind kind : {EventKind::kLegacy, EventKind::kEx}) {
    const FlaggedEvent timed(kind, ACL_EVENT_TIME_LINE), untimed(kind, ACL_EVENT_SYNC);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(timed, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(untimed, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&milliseconds, untimed, timed));
    EXPECT_TRUE(MessageHas("startEvent was made without ACL_EVENT_TIME_LINE"));
    EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&milliseconds, timed, untimed));
    EXPECT_TRUE(MessageHas("endEvent was made without ACL_EVENT_TIME_LINE"));
    EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventGetTimestamp(untimed, &timestamp));
  }
}

TEST_F(EventTime, RefusalNamesTheEvent) {
  Event event;
  float milliseconds = 0;
  const FlaggedEvent shared(EventKind::kEx, ACL_EVENT_IPC);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtEventElapsedTime(&milliseconds, event, shared));
  EXPECT_TRUE(MessageHas("endEvent is external or shared"));
  aclrtEvent dead = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateEvent(&dead));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(dead));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtEventElapsedTime(&milliseconds, event, dead));
  EXPECT_TRUE(MessageHas("endEvent 0x" + Hex(dead)));
}

}  // namespace
}  // namespace sampan::test::event_time_test
