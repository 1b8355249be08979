// An event shared between processes whose recording was dropped: its status said complete, but waits for it
// never went on. Later they went on with code 0, as if the recording had been reached.
// Rules of docs/BEHAVIOUR.md: share-8, event-6.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/stream.h"

namespace sampan::test::dropped_ipc_recording_test {
namespace {

class IpcEvent {
 public:
  IpcEvent() { EXPECT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event_, ACL_EVENT_IPC)); }
  ~IpcEvent() { EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event_)); }
  IpcEvent(const IpcEvent&) = delete;
  IpcEvent& operator=(const IpcEvent&) = delete;
  operator aclrtEvent() const { return event_; }

 private:
  aclrtEvent event_ = nullptr;
};

/// A recording that an abort drops: behind a function that holds the stream.
void DropARecording(aclrtEvent event, aclrtStream stream) {
  Gate gate(stream);
  ASSERT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  ASSERT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
}

void ExpectWaitsToFail() {
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream recording, waiting;
  const IpcEvent event;
  DropARecording(event, recording);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStreamWithTimeout(waiting, 5000));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEventWithTimeout(event, 5000));
  // A later recording counts again.
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(waiting, 5000));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEventWithTimeout(event, 5000));
}

TEST(DroppedIpcRecording, FailsWaits) {
  if (DoneInChild()) return;
  ExpectWaitsToFail();
}

TEST(DroppedIpcRecording, FailsWaitsUnderTheLateSchedule) {
  if (DoneInChild({{"SAMPAN_SCHEDULE", "late"}})) return;
  ExpectWaitsToFail();
}

TEST(DroppedIpcRecording, FailsAWaitThatStoodThereBefore) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream recording, waiting;
  const IpcEvent event;
  Gate gate(recording);
  ASSERT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiting, 20));
  ASSERT_ACL(ACL_SUCCESS, aclrtStreamAbort(recording));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStreamWithTimeout(waiting, 5000));
}

TEST(DroppedIpcRecording, TellsTheCodeOfADeviceAbort) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream recording;
  const IpcEvent event;
  Gate gate(recording);
  ASSERT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
  ASSERT_ACL(ACL_SUCCESS, aclrtDeviceTaskAbort(0, 0));
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_TASK_ABORT, aclrtSynchronizeEventWithTimeout(event, 5000));
}

// A chain: shared event, stream, event of one process, stream, shared event.
TEST(DroppedIpcRecording, FailsAChainThroughOtherEvents) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream first, second, third;
  const IpcEvent dropped, last;
  const Event between;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(last, third));  // an older recording, which is not dropped
  DropARecording(dropped, first);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(second, dropped));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(between, second));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(third, between));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(last, third));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEventWithTimeout(last, 5000));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStreamWithTimeout(second, 5000));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStreamWithTimeout(third, 5000));
}

// The last eight dropped recordings are remembered, each by its own number.
TEST(DroppedIpcRecording, IsToldApartFromLaterOnes) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream recording;
  const IpcEvent event;
  std::vector<Stream> waiting(16);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const bool drops = i % 2 == 0;
    if (drops) {
      DropARecording(event, recording);
    } else {
      EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting[i], event));
    EXPECT_ACL(drops ? ACL_ERROR_RT_STREAM_ABORT : ACL_SUCCESS,
               aclrtSynchronizeStreamWithTimeout(waiting[i], 5000));
  }
}

}  // namespace
}  // namespace sampan::test::dropped_ipc_recording_test
