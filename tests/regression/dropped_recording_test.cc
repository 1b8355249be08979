// A recording that was dropped by an abort counted as reached: streams that waited for it copied bytes that
// were never made, and every code was 0.
// Rules of docs/BEHAVIOUR.md: event-1, event-5.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"
#include "tests/support/flagged_event.h"

namespace sampan::test::dropped_recording_test {
namespace {

constexpr std::size_t kBytes = 4'096;

/// One stream makes bytes and records an event; another waits for it and copies them.
class DroppedRecording : public CopyTest {
 protected:
  struct Pair {
    explicit Pair(Random& random) : stale(random.Fill(kBytes)) {
      good.Write(0, random.Fill(kBytes));
      between.Write(0, stale);
    }
    void Produce() {
      gate.emplace(producer);
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(between.data(), kBytes, good.data(), kBytes,
                                               ACL_MEMCPY_HOST_TO_DEVICE, producer));
      EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
    }
    void Consume() {
      EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(consumer, event));
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(target.data(), kBytes, between.data(), kBytes,
                                               ACL_MEMCPY_DEVICE_TO_HOST, consumer));
    }

    const Bytes stale;
    PinnedBuffer good{kBytes}, target{kBytes};
    DeviceBuffer between{kBytes};
    Stream producer, consumer;
    Event event;
    std::optional<Gate> gate;
  };
};

TEST_F(DroppedRecording, FailsAWaitThatStandsThere) {
  Pair pair(random());
  pair.Produce();
  pair.Consume();
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(pair.consumer, 10));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(pair.producer));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(pair.consumer));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(pair.consumer)) << "a failure is told once";
}

// Its time was "not reached yet", while a query said that it was complete.
TEST_F(DroppedRecording, HasNoTime) {
  const Stream stream;
  const FlaggedEvent event(EventKind::kEx, ACL_EVENT_TIME_LINE);
  Gate gate(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  std::uint64_t time = 0;
  EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventGetTimestamp(event, &time));
  EXPECT_TRUE(MessageHas("is not reached yet"));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_ACL(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventGetTimestamp(event, &time));
  EXPECT_TRUE(MessageHas("event has no time: its recording was dropped"));
}

TEST_F(DroppedRecording, FailsAWaitThatComesLater) {
  Pair pair(random());
  pair.Produce();
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(pair.producer));
  pair.Consume();
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(pair.consumer));
}

TEST_F(DroppedRecording, FailsAWaitOfTheHost) {
  Pair pair(random());
  pair.Produce();
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(pair.producer));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeEvent(pair.event));
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventStatus(pair.event, &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE) << "nothing is left to wait for";
}

TEST_F(DroppedRecording, FailsAWaitAfterAForcedDestroy) {
  Pair pair(random());
  pair.Produce();
  pair.Consume();
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(pair.producer.Release()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(pair.consumer));
}

TEST_F(DroppedRecording, LeavesTheEventUsable) {
  Pair pair(random());
  pair.Produce();
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(pair.producer));
  pair.gate->Open();
  pair.Produce();
  pair.gate->Open();
  pair.Consume();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(pair.consumer));
  EXPECT_TRUE(pair.target.Read(0, kBytes) == pair.good.Read(0, kBytes));
}

TEST_F(DroppedRecording, TellsNothingToAStreamThatIsAbortedToo) {
  Pair pair(random());
  pair.Produce();
  pair.Consume();
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceTaskAbort(0, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(pair.consumer));
  EXPECT_FALSE(pair.target.Read(0, kBytes) == pair.stale) << "the copy was dropped too";
}

}  // namespace
}  // namespace sampan::test::dropped_recording_test
