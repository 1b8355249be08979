// A legacy event that was recorded right after its reset stayed NOT_READY for ever: the order of the two was
// guessed from their times.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/stream.h"

namespace sampan::test::event_reset_order_test {
namespace {

constexpr int kRounds = 3'000;

class EventResetOrder : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateNotify(&notify_, 0));
  }
  void TearDown() override {
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(notify_));
    DeviceTest::TearDown();
  }
  /// The notify orders the streams: what comes next in `second` happens after what came before in `first`.
  void Signal(aclrtStream first) const { EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(notify_, first)); }
  void Await(aclrtStream second) const {
    EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify_, second, 0));
  }
  static bool IsRecorded(aclrtEvent event) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }

 private:
  aclrtNotify notify_ = nullptr;
};

TEST_F(EventResetOrder, ARecordingAfterTheResetStays) {
  Event event;
  Stream recording, resetting;
  int lost = 0;
  for (int round = 0; round < kRounds; ++round) {
    Await(recording);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetEvent(event, resetting));
    Signal(resetting);
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(recording));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(resetting));
    lost += IsRecorded(event) ? 0 : 1;
  }
  EXPECT_EQ(lost, 0) << "recordings of " << kRounds;
}

TEST_F(EventResetOrder, ARecordingBeforeTheResetIsTakenBack) {
  Event event;
  Stream recording, resetting;
  int left = 0;
  for (int round = 0; round < kRounds; ++round) {
    Await(resetting);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, recording));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetEvent(event, resetting));
    Signal(recording);
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(recording));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(resetting));
    left += IsRecorded(event) ? 1 : 0;
  }
  EXPECT_EQ(left, 0) << "recordings of " << kRounds;
}

}  // namespace
}  // namespace sampan::test::event_reset_order_test
