// What a stream answered after an abort depended on whether a task of it failed before the abort came: its
// failure survived. Rules of docs/BEHAVIOUR.md: stream-11.
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::failure_before_abort_test {
namespace {

class FailureBeforeAbort : public CopyTest {
 protected:
  /// The stream waits for work that is dropped: returns when the wait has failed.
  static void FailAWait(aclrtStream on) {
    const Stream dropped;
    const Event event, behind;
    Gate gate(dropped);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, dropped));
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(on, event));
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(behind, on));
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(dropped));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEvent(behind));
  }
};

TEST_F(FailureBeforeAbort, OfAWaitIsNotReportedAfterIt) {
  FailAWait(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
}

TEST_F(FailureBeforeAbort, OfAWaitIsNotReportedAfterAnAbortOfTheDevice) {
  FailAWait(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceTaskAbort(0, 0));
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream(), &status));
}

TEST_F(FailureBeforeAbort, OfACopyIsNotReportedAfterIt) {
  QueueFailure(stream());
  const Event behind;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(behind, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(behind));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
}

TEST_F(FailureBeforeAbort, LeavesLaterFailuresToBeReported) {
  FailAWait(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream()));
  QueueFailure(stream());
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
}

// The wait of the second stream fails before its abort, beside it, or is dropped by it.
TEST_F(FailureBeforeAbort, BesideIt) {
  constexpr int kRounds = 300;
  const Stream first;
  const Event event;
  for (int round = 0; round < kRounds; ++round) {
    Gate gate(first);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, first));
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(stream(), event));
    std::thread other([&] {
      EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
      EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(first));
      EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
    });
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream()));
    other.join();
    ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream())) << "round " << round;
  }
}

}  // namespace
}  // namespace sampan::test::failure_before_abort_test
