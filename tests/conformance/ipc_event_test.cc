// Events that other processes may open, seen from the process that made them.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/flagged_event.h"
#include "tests/support/stream.h"

namespace sampan::test::ipc_event_test {
namespace {

class IpcEventTest : public DeviceTest {
 protected:
  static bool IsComplete(aclrtEvent event) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }
  static bool IsDone(aclrtStream stream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    return status == ACL_STREAM_STATUS_COMPLETE;
  }
};

TEST_F(IpcEventTest, ARecordingEndsWithTheWorkBeforeIt) {
  const FlaggedEvent event(EventKind::kEx, ACL_EVENT_IPC);
  const Stream recording, waiting;
  EXPECT_TRUE(IsComplete(event)) << "never recorded";
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(waiting));
  {
    Gate gate(recording);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
    EXPECT_FALSE(IsComplete(event));
    EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 20));
    std::uint32_t id = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetEventId(event, &id));
    EXPECT_TRUE(MessageHas("event " + std::to_string(id)));
    EXPECT_TRUE(MessageHas("time limit of 20 ms"));
    EXPECT_FALSE(IsDone(waiting));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(event));
  EXPECT_TRUE(IsComplete(event));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(waiting));
}

TEST_F(IpcEventTest, TwoStreamsRecordInTurn) {
  const FlaggedEvent event(EventKind::kEx, ACL_EVENT_IPC);
  const Stream first, second;
  for (int i = 0; i < 50; ++i) {
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, i % 2 == 0 ? first : second));
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(i % 2 == 0 ? second : first, event));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(event));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(first));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(second));
}

TEST_F(IpcEventTest, OnlyEventsMadeForItHaveAHandle) {
  aclrtIpcEventHandle handle = {};
  const Event plain;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcGetEventHandle(plain, &handle));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtIpcGetEventHandle(nullptr, &handle));
  const FlaggedEvent event(EventKind::kEx, ACL_EVENT_IPC);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtIpcGetEventHandle(event, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtIpcGetEventHandle(event, &handle));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtIpcOpenEventHandle(handle, nullptr));
  aclrtEvent opened = nullptr;
  std::memset(&handle, 'x', sizeof(handle));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcOpenEventHandle(handle, &opened));
  EXPECT_EQ(opened, nullptr);
}

}  // namespace
}  // namespace sampan::test::ipc_event_test
