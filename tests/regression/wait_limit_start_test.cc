// The time limit of a stream's wait for an event counted from the call. So a wait behind slow work ran past
// its limit before the stream came to it.
// Rule of docs/BEHAVIOUR.md: event-4.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/stream.h"

namespace sampan::test::wait_limit_start_test {
namespace {

constexpr std::int32_t kLimitSeconds = 2;

/// Both streams are held for longer than the limit; then the wait stands for a moment.
void ExpectTheLimitToCountFromTheWait() {
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Stream waiting, recording;
  Event event;
  Gate before_wait(waiting), before_recording(recording);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEventWithTimeout(waiting, event, kLimitSeconds));
  std::this_thread::sleep_for(std::chrono::seconds(kLimitSeconds) + std::chrono::milliseconds(200));
  before_wait.Open();
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiting, 50))
      << "the wait has not begun";
  before_recording.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(waiting));
}

TEST(WaitLimitStart, IsWhenTheStreamStandsThere) {
  if (DoneInChild()) return;
  ExpectTheLimitToCountFromTheWait();
}

TEST(WaitLimitStart, IsWhenTheStreamStandsThereUnderTheLateSchedule) {
  if (DoneInChild({{"SAMPAN_SCHEDULE", "late"}})) return;
  ExpectTheLimitToCountFromTheWait();
}

TEST(WaitLimitStart, StillEndsAWait) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Stream waiting, recording;
  Event event;
  Gate gate(recording);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEventWithTimeout(waiting, event, 1));
  EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(waiting));
}

}  // namespace
}  // namespace sampan::test::wait_limit_start_test
