// The order that events make between streams, and what can be seen of it; held streams prove it.
// Rules of docs/BEHAVIOUR.md: event-2, event-3.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/flagged_event.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/return_watch.h"
#include "tests/support/stream.h"

namespace sampan::test::event_order_test {
namespace {

bool IsIdle(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
  return status == ACL_STREAM_STATUS_COMPLETE;
}

bool IsRecorded(aclrtEvent event) {
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
  return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

bool WaitsAreOver(aclrtEvent event) {
  aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventWaitStatus(event, &status));
  return status == ACL_EVENT_WAIT_STATUS_COMPLETE;
}

/// What both kinds of event have in common.
class EitherEvent : public DeviceTest, public ::testing::WithParamInterface<EventKind> {};

TEST_P(EitherEvent, HoldsAStreamUntilItsRecordIsReached) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  Stream producer, consumer;
  DeviceBuffer data(1);
  PinnedBuffer seen(1);
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(data.data(), 1, 0x5A, 1, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(consumer, event));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(seen.data(), 1, data.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST, consumer));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(consumer, 10));
  EXPECT_FALSE(IsRecorded(event));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer));
  EXPECT_EQ(*seen.at(0), std::byte{0x5A});
  EXPECT_TRUE(IsRecorded(event));
}

TEST_P(EitherEvent, HoldsSeveralStreams) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  Stream producer, first, second;
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(first, event));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(second, event));
  EXPECT_FALSE(IsIdle(first));
  EXPECT_FALSE(IsIdle(second));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(first));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(second));
}

TEST_P(EitherEvent, WaitBeforeTheRecordPasses) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  Stream consumer, producer;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(consumer, event));
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(consumer, 5000)) << "the record came too late";
}

TEST_P(EitherEvent, WaitInTheStreamOfTheRecordPasses) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(stream, event));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, 5000));
}

TEST_P(EitherEvent, OrdersAChainOfStreams) {
  const FlaggedEvent first_event(GetParam(), ACL_EVENT_SYNC), second_event(GetParam(), ACL_EVENT_SYNC);
  Stream first, second, third;
  Gate gate(first);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(first_event, first));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(second, first_event));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(second_event, second));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(third, second_event));
  EXPECT_FALSE(IsIdle(third));
  EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(second_event, 10));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(third));
}

TEST_P(EitherEvent, NullStreamIsTheDefaultStream) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  Stream producer;
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(nullptr, event));
  EXPECT_FALSE(IsIdle(nullptr));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(event));
}

TEST_P(EitherEvent, OrdersStreamsOfTwoDevices) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  Stream producer;
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  aclrtContext own = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&own));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  {
    Stream consumer;
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(consumer, event));
    EXPECT_FALSE(IsIdle(consumer));
    gate.Open();
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(own));
}

TEST_P(EitherEvent, CanBeDestroyedWhileItHoldsAStream) {
  Stream producer, consumer;
  Gate gate(producer);
  {
    const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(consumer, event));
  }
  EXPECT_FALSE(gate.passed()) << "destroying does not wait";
  EXPECT_FALSE(IsIdle(consumer)) << "the queued wait stays";
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer));
}

// ---- waiting on the host ----

TEST_P(EitherEvent, HostWaitsForTheRecord) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  Stream stream;
  ReturnWatch watch(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(event));
  EXPECT_TRUE(watch.WorkWasOver());
}

TEST_P(EitherEvent, HostDoesNotWaitForWorkBehindTheRecord) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  Gate gate(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(event));
  EXPECT_FALSE(gate.passed());
}

TEST_P(EitherEvent, HostWaitEndsWithItsTimeout) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  Stream stream;
  Gate gate(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 10));
  std::uint32_t id = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetEventId(event, &id));
  EXPECT_TRUE(MessageHas("event " + std::to_string(id) + " was not reached within the time limit of 10 ms"));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEventWithTimeout(event, -1));
}

TEST_P(EitherEvent, HostWaitOfAnUnrecordedEventSucceeds) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(event));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEventWithTimeout(event, 10));
}

TEST_P(EitherEvent, HostWaitNeedsNoContext) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(event));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEventWithTimeout(event, 5000));
  });
}

TEST_P(EitherEvent, QueryOfAnUnrecordedEventDependsOnTheKind) {
  const FlaggedEvent event(GetParam(), ACL_EVENT_SYNC);
  EXPECT_EQ(IsRecorded(event), GetParam() == EventKind::kEx);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EitherEvent, ::testing::Values(EventKind::kLegacy, EventKind::kEx),
                         [](const auto& instance) {
                           return instance.param == EventKind::kEx ? "ex" : "legacy";
                         });

// ---- recording again ----

class ExEvent : public DeviceTest {
 protected:
  static FlaggedEvent Make() { return FlaggedEvent(EventKind::kEx, ACL_EVENT_SYNC); }
};

TEST_F(ExEvent, WaitKeepsTheRecordThatItFound) {
  const FlaggedEvent event = Make();
  Stream first, second, consumer;
  Gate first_gate(first), second_gate(second);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, first));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(consumer, event));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, second));
  EXPECT_FALSE(IsIdle(consumer));
  first_gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer)) << "the later record does not matter";
  EXPECT_FALSE(second_gate.passed());
}

TEST_F(ExEvent, WaitTakesTheLatestRecord) {
  const FlaggedEvent event = Make();
  Stream first, second, consumer;
  Gate second_gate(second);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, first));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(first));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, second));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(consumer, event));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(consumer, 10));
  EXPECT_FALSE(IsRecorded(event)) << "the query looks at the latest record";
  EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 10));
  second_gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer));
}

TEST_F(ExEvent, CanCarryARoundTripAgainAndAgain) {
  const FlaggedEvent there = Make(), back = Make();
  Stream ping, pong;
  DeviceBuffer counter(1);
  for (int round = 1; round <= 20; ++round) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(counter.data(), 1, round, 1, ping));
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(there, ping));
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(pong, there));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(counter.data(), 1, 100 + round, 1, pong));
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(back, pong));
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(ping, back));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(ping));
  EXPECT_EQ(counter.Read(0, 1), Bytes{std::byte{120}});
}

// ---- the legacy kind: reset and wait status ----

class LegacyEvent : public DeviceTest {};

TEST_F(LegacyEvent, CanBeUsedAgainAfterAReset) {
  Event event;
  Stream producer, consumer;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(consumer, event));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetEvent(event, consumer));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer));
  EXPECT_FALSE(IsRecorded(event)) << "as if it had never been recorded";
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(consumer, event));
  EXPECT_FALSE(IsIdle(consumer));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer));
  EXPECT_TRUE(IsRecorded(event));
}

TEST_F(LegacyEvent, ResetKeepsTheOrderOfItsStream) {
  Event event;
  Stream producer, consumer;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(producer));
  {
    Gate gate(consumer);
    EXPECT_ACL(ACL_SUCCESS, aclrtResetEvent(event, consumer));
    EXPECT_TRUE(IsRecorded(event)) << "the stream has not come to the reset";
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer));
  EXPECT_FALSE(IsRecorded(event));
}

TEST_F(LegacyEvent, ResetBeforeTheRecordIsReachedTakesNothingBack) {
  Event event;
  Stream producer, other;
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetEvent(event, other));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(other));
  EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 10));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(event));
  EXPECT_TRUE(IsRecorded(event)) << "the stream came to the record after the reset";
}

TEST_F(LegacyEvent, ResetInTheDefaultStream) {
  Event event;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetEvent(event, nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_FALSE(IsRecorded(event));
}

TEST_F(LegacyEvent, ShowsWhetherItsWaitsAreOver) {
  Event event;
  Stream producer, consumer;
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(consumer, event));
  EXPECT_FALSE(WaitsAreOver(event));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer));
  EXPECT_TRUE(WaitsAreOver(event));
}

TEST_F(LegacyEvent, OldQueryTellsReachedFromNot) {
  Event event;
  Stream stream;
  aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
  {
    Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
    EXPECT_ACL(ACL_SUCCESS, QueryEvent(event, &status));
    EXPECT_EQ(status, ACL_EVENT_STATUS_NOT_READY);
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_SUCCESS, QueryEvent(event, &status));
  EXPECT_EQ(status, ACL_EVENT_STATUS_COMPLETE);
}

// ---- waits with a time limit ----

class TimedWait : public DeviceTest {};

TEST_F(TimedWait, ExpiresAsAnAsynchronousError) {
  Event event;
  Stream producer, consumer;
  DeviceBuffer data(1);
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEventWithTimeout(consumer, event, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(data.data(), 1, 0x11, 1, consumer));
  EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(consumer));
  std::uint32_t id = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetEventId(event, &id));
  EXPECT_TRUE(MessageHas("wait for event " + std::to_string(id)));
  EXPECT_TRUE(MessageHas("time limit of 1 s"));
  EXPECT_FALSE(gate.passed());
  EXPECT_EQ(data.Read(0, 1), Bytes{std::byte{0x11}}) << "the stream goes on";
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer)) << "reported once";
}

TEST_F(TimedWait, ThatIsInTimeSucceeds) {
  Event event;
  Stream producer, consumer;
  Gate gate(producer);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, producer));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEventWithTimeout(consumer, event, 60));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEventWithFlag(consumer, event, 60, ACL_EVENT_WAIT_DEFAULT));
  EXPECT_FALSE(IsIdle(consumer));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(consumer));
}

}  // namespace
}  // namespace sampan::test::event_order_test
