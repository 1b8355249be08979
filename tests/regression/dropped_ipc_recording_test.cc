// An event shared between processes whose recording was dropped: its status said complete, waits for it never
// went on.
// Rule of docs/BEHAVIOUR.md: share-8.
#include <gtest/gtest.h>

#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/stream.h"

namespace sampan::test::dropped_ipc_recording_test {
namespace {

/// A recording that an abort drops: behind a function that holds the stream.
void DropARecording(aclrtEvent event, aclrtStream stream) {
  Gate gate(stream);
  ASSERT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  ASSERT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
}

void ExpectWaitsToGoOn() {
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Stream recording, waiting;
  aclrtEvent event = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
  DropARecording(event, recording);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(waiting, 5000)) << "the wait never goes on";
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEventWithTimeout(event, 5000));
  // A later recording counts again.
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(waiting, 5000));
}

TEST(DroppedIpcRecording, LetsWaitsGoOn) {
  if (DoneInChild()) return;
  ExpectWaitsToGoOn();
}

TEST(DroppedIpcRecording, LetsWaitsGoOnUnderTheLateSchedule) {
  if (DoneInChild({{"SAMPAN_SCHEDULE", "late"}})) return;
  ExpectWaitsToGoOn();
}

TEST(DroppedIpcRecording, LetsAWaitGoOnThatStoodThereBefore) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Stream recording, waiting;
  aclrtEvent event = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
  Gate gate(recording);
  ASSERT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiting, 20));
  ASSERT_ACL(ACL_SUCCESS, aclrtStreamAbort(recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(waiting, 5000)) << "the wait never goes on";
}

}  // namespace
}  // namespace sampan::test::dropped_ipc_recording_test
