// Making, describing and asking events: flags, numbers, handles, limits.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/flagged_event.h"
#include "tests/support/stream.h"

namespace sampan::test::event_test {
namespace {

constexpr std::uint32_t kEveryFlag = 0xF;

std::uint32_t AvailableEvents() {
  std::uint32_t count = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetEventAvailNum(&count));
  return count;
}

// ---- create ----

class EventCreation : public DeviceTest {};

TEST_F(EventCreation, NeedsAPointer) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateEvent(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateEventWithFlag(nullptr, ACL_EVENT_SYNC));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateEventExWithFlag(nullptr, ACL_EVENT_SYNC));
}

TEST_F(EventCreation, TakesAnyJoinOfTheLowFourFlags) {
  for (std::uint32_t flags = 1; flags <= kEveryFlag; ++flags) {
    for (const auto create : {aclrtCreateEventWithFlag, aclrtCreateEventExWithFlag}) {
      aclrtEvent event = nullptr;
      EXPECT_ACL(ACL_SUCCESS, create(&event, flags)) << "flags " << flags;
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event));
    }
  }
}

TEST_F(EventCreation, TakesSpecialFlagsAlone) {
  for (const std::uint32_t flag : {ACL_EVENT_DEVICE_USE_ONLY, ACL_EVENT_EXTERNAL}) {
    aclrtEvent event = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateEventWithFlag(&event, flag)) << "flag " << flag;
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventWithFlag(&event, flag | ACL_EVENT_SYNC))
        << "flag " << flag;
  }
  aclrtEvent event = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC | ACL_EVENT_SYNC));
}

TEST_F(EventCreation, RefusesOtherFlags) {
  aclrtEvent event = nullptr;
  for (const std::uint32_t flags : {0u, ACL_EVENT_IPC, 0x30u, 0x80u, 0x80000000u}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventWithFlag(&event, flags)) << "flags " << flags;
    EXPECT_TRUE(MessageHas("flag is " + std::to_string(flags) + ": it must be ACL_EVENT_SYNC"));
    EXPECT_TRUE(MessageHas("alone ACL_EVENT_DEVICE_USE_ONLY or ACL_EVENT_EXTERNAL"));
  }
  for (const std::uint32_t flags :
       {0u, ACL_EVENT_DEVICE_USE_ONLY, ACL_EVENT_EXTERNAL, 0x30u, 0x80u, 0x80000000u}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventExWithFlag(&event, flags)) << "flags " << flags;
    EXPECT_TRUE(MessageHas("alone ACL_EVENT_IPC"));
  }
}

TEST_F(EventCreation, CountsDown) {
  const std::uint32_t before = AvailableEvents();
  EXPECT_LE(before, 65536u);
  {
    Event first, second;
    EXPECT_EQ(AvailableEvents(), before - 2);
  }
  EXPECT_EQ(AvailableEvents(), before);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetEventAvailNum(nullptr));
}

TEST_F(EventCreation, EndsWithTheLastNumberAndRecovers) {
  const std::uint32_t available = AvailableEvents();
  std::vector<aclrtEvent> events;
  aclrtEvent event = nullptr;
  aclError answer = ACL_SUCCESS;
  while (events.size() <= 65536 && (answer = aclrtCreateEvent(&event)) == ACL_SUCCESS)
    events.push_back(event);
  EXPECT_ACL(ACL_ERROR_RT_NO_EVENT_RESOURCE, answer);
  EXPECT_EQ(events.size(), available);

  aclrtEvent unlimited = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&unlimited, ACL_EVENT_SYNC))
      << "has no number until used";
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(unlimited));

  ASSERT_FALSE(events.empty());
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(events.back()));
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateEvent(&events.back())) << "one was given back";
  for (const aclrtEvent one : events)
    ASSERT_ACL(ACL_SUCCESS, aclrtDestroyEvent(one));
  EXPECT_EQ(AvailableEvents(), available);
}

TEST_F(EventCreation, GivesDifferentNumbers) {
  Event first, second;
  std::uint32_t first_id = 0, second_id = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetEventId(first, &first_id));
  EXPECT_ACL(ACL_SUCCESS, aclrtGetEventId(second, &second_id));
  EXPECT_NE(first_id, second_id);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetEventId(first, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetEventId(nullptr, &first_id));
}

// ---- arguments ----

class EventArguments : public DeviceTest {};

TEST_F(EventArguments, EventIsNeeded) {
  Stream stream;
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyEvent(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRecordEvent(nullptr, stream));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRecordEventWithFlag(nullptr, stream, ACL_EVENT_RECORD_DEFAULT));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamWaitEvent(stream, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtQueryEventStatus(nullptr, &recorded));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeEvent(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeEventWithTimeout(nullptr, 10));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamWaitEventWithTimeout(stream, nullptr, 1))
      << "here the runtime looks";
}

TEST_F(EventArguments, StatusIsNeeded) {
  Event event;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtQueryEventStatus(event, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtQueryEventWaitStatus(event, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, QueryEvent(event, nullptr));
}

TEST_F(EventArguments, RecordAndWaitFlagsAreChecked) {
  Stream stream;
  Event event;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRecordEventWithFlag(event, stream, 2));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_DEFAULT));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
             aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL))
      << "only while capturing";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamWaitEventWithFlag(stream, event, 0, 2));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEventWithFlag(stream, event, 0, ACL_EVENT_WAIT_DEFAULT));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtStreamWaitEventWithFlag(stream, event, 1, ACL_EVENT_WAIT_EXTERNAL));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
             aclrtStreamWaitEventWithFlag(stream, event, 0, ACL_EVENT_WAIT_EXTERNAL));
}

TEST_F(EventArguments, StreamOfAnExternalRecordOrWaitMustLive) {
  Event event;
  aclrtStream dead = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&dead));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(dead));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEventWithFlag(event, dead, ACL_EVENT_RECORD_EXTERNAL));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
             aclrtStreamWaitEventWithFlag(dead, event, 0, ACL_EVENT_WAIT_EXTERNAL));
}

TEST_F(EventArguments, TimeoutsAreChecked) {
  Stream stream;
  Event event;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamWaitEventWithTimeout(stream, event, -1));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEventWithTimeout(event, -2));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEventWithTimeout(nullptr, -2))
      << "a timeout below -1 comes before the missing event";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEventWithTimeout(event, 0));
}

// ---- what an event cannot do ----

TEST_F(EventArguments, WithoutASyncFlagItCannotHoldAStream) {
  Stream stream;
  for (const std::uint32_t flags : {ACL_EVENT_TIME_LINE, ACL_EVENT_CAPTURE_STREAM_PROGRESS}) {
    const FlaggedEvent event(EventKind::kLegacy, flags);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream)) << "flags " << flags;
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamWaitEvent(stream, event)) << "flags " << flags;
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(event, stream)) << "flags " << flags;
  }
}

TEST_F(EventArguments, ExEventsHaveNoResetAndNoOldQueries) {
  Stream stream;
  const FlaggedEvent event(EventKind::kEx, kEveryFlag);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(event, stream));
  aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, QueryEvent(event, &status));
  aclrtEventWaitStatus wait_status = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEventWaitStatus(event, &wait_status));
}

TEST_F(EventArguments, DeviceUseOnlyEventsCannotBeReset) {
  Stream stream;
  const FlaggedEvent event(EventKind::kLegacy, ACL_EVENT_DEVICE_USE_ONLY);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtResetEvent(event, stream));
}

TEST_F(EventArguments, ExternalEventsCannotBeWaitedForNorTimed) {
  const FlaggedEvent event(EventKind::kLegacy, ACL_EVENT_EXTERNAL);
  Event other;
  float milliseconds = 0;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSynchronizeEvent(event));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtEventElapsedTime(&milliseconds, event, other));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtEventElapsedTime(&milliseconds, other, event));
}

// ---- handles ----

/// Every call that takes an event handle, with arguments that are fine otherwise.
class EventHandle : public DeviceTest {
 protected:
  static void ExpectRefused(aclrtEvent handle, const std::string& what) {
    Stream stream;
    Event event;
    std::uint32_t id = 0;
    float milliseconds = 0;
    std::uint64_t timestamp = 0;
    aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    aclrtEventWaitStatus waited = ACL_EVENT_WAIT_STATUS_RESERVED;
    aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
    const std::function<aclError()> calls[] = {
        [&] { return aclrtRecordEvent(handle, stream); },
        [&] { return aclrtRecordEventWithFlag(handle, stream, ACL_EVENT_RECORD_DEFAULT); },
        [&] { return aclrtRecordEventWithFlag(handle, stream, ACL_EVENT_RECORD_EXTERNAL); },
        [&] { return aclrtStreamWaitEvent(stream, handle); },
        [&] { return aclrtStreamWaitEventWithFlag(stream, handle, 0, ACL_EVENT_WAIT_DEFAULT); },
        [&] { return aclrtStreamWaitEventWithFlag(stream, handle, 0, ACL_EVENT_WAIT_EXTERNAL); },
        [&] { return aclrtStreamWaitEventWithTimeout(stream, handle, 1); },
        [&] { return aclrtResetEvent(handle, stream); },
        [&] { return aclrtQueryEventStatus(handle, &recorded); },
        [&] { return aclrtQueryEventWaitStatus(handle, &waited); },
        [&] { return QueryEvent(handle, &status); },
        [&] { return aclrtSynchronizeEvent(handle); },
        [&] { return aclrtSynchronizeEventWithTimeout(handle, 10); },
        [&] { return aclrtEventElapsedTime(&milliseconds, handle, event); },
        [&] { return aclrtEventElapsedTime(&milliseconds, event, handle); },
        [&] { return aclrtEventGetTimestamp(handle, &timestamp); },
        [&] { return aclrtGetEventId(handle, &id); },
        [&] { return aclrtDestroyEvent(handle); },
    };
    for (const auto& call : calls) {
      EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, call()) << what << ", call " << &call - calls;
    }
  }
};

TEST_F(EventHandle, IsDeadAfterDestroy) {
  aclrtEvent event = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateEvent(&event));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event));
  ExpectRefused(event, "destroyed");
}

TEST_F(EventHandle, CannotBeForged) {
  std::uint64_t words[8] = {0x45564E54, 0, 0x45564E54, 0, 0, 0, 0, 0};
  ExpectRefused(words, "memory of the program");
  ExpectRefused(reinterpret_cast<void*>(std::uintptr_t{1}), "the number 1");
  ExpectRefused(reinterpret_cast<void*>(~std::uintptr_t{0}), "the largest number");
}

TEST_F(EventHandle, OfAnotherTypeIsRefused) {
  Stream stream;
  ExpectRefused(stream, "a stream");
}

}  // namespace
}  // namespace sampan::test::event_test
