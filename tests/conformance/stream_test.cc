// Making and describing streams: priorities, flags, numbers, attributes, handles, exhaustion.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/stream.h"

namespace sampan::test::stream_test {
namespace {

constexpr std::uint32_t kUnknownFlag = 0x40000000U;
constexpr auto kUnknownAttribute = static_cast<aclrtStreamAttr>(7);

std::uint32_t Priority(aclrtStream stream) {
  std::uint32_t priority = 4711;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamGetPriority(stream, &priority));
  return priority;
}

std::uint32_t Flags(aclrtStream stream) {
  std::uint32_t flags = 4711;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamGetFlags(stream, &flags));
  return flags;
}

std::uint32_t AvailableStreams() {
  std::uint32_t count = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamAvailableNum(&count));
  return count;
}

class StreamCreation : public DeviceTest {
 protected:
  static aclrtStream Create(std::uint32_t priority, std::uint32_t flags) {
    aclrtStream stream = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateStreamWithConfig(&stream, priority, flags));
    return stream;
  }
  static void Destroy(aclrtStream stream) { EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream)); }
};

TEST_F(StreamCreation, NeedsAPointerAndAContext) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamWithConfig(nullptr, 0, 0));
  OnNewThread([] {
    aclrtStream stream = nullptr;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(nullptr)) << "the pointer comes first";
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStreamWithConfig(&stream, 0, 0));
  });
}

TEST_F(StreamCreation, GivesDifferentHandlesAndNumbers) {
  std::vector<aclrtStream> streams(16);
  std::set<aclrtStream> handles;
  std::set<std::int32_t> ids;
  for (aclrtStream& stream : streams) {
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    handles.insert(stream);
    std::int32_t id = -1;
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamGetId(stream, &id));
    EXPECT_GE(id, 0);
    ids.insert(id);
  }
  EXPECT_EQ(handles.size(), streams.size());
  EXPECT_EQ(ids.size(), streams.size());
  for (const aclrtStream stream : streams)
    Destroy(stream);
}

TEST_F(StreamCreation, KeepsThePriority) {
  for (const std::uint32_t priority : {0u, 3u, 7u}) {
    const aclrtStream stream = Create(priority, 0);
    EXPECT_EQ(Priority(stream), priority);
    Destroy(stream);
  }
}

TEST_F(StreamCreation, ClampsThePriority) {
  for (const std::uint32_t priority : {8u, 100u, 0xFFFFFFFFu}) {
    const aclrtStream stream = Create(priority, 0);
    EXPECT_EQ(Priority(stream), 7u) << "asked for " << priority;
    Destroy(stream);
  }
}

TEST_F(StreamCreation, KeepsTheFlags) {
  for (const std::uint32_t flags :
       {0u, ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC, ACL_STREAM_PERSISTENT,
        ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
    const aclrtStream stream = Create(0, flags);
    EXPECT_EQ(Flags(stream), flags);
    Destroy(stream);
  }
}

TEST_F(StreamCreation, DropsUnknownFlags) {
  const aclrtStream stream = Create(0, ACL_STREAM_FAST_SYNC | kUnknownFlag);
  EXPECT_EQ(Flags(stream), ACL_STREAM_FAST_SYNC);
  Destroy(stream);
}

TEST_F(StreamCreation, DeviceUseOnlyStandsAlone) {
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY | ACL_STREAM_FAST_LAUNCH));
}

TEST_F(StreamCreation, CountsDown) {
  const std::uint32_t before = AvailableStreams();
  const aclrtStream first = Create(0, 0);
  EXPECT_EQ(AvailableStreams(), before - 1);
  const aclrtStream second = Create(0, 0);
  EXPECT_EQ(AvailableStreams(), before - 2);
  Destroy(first);
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(second));
  EXPECT_EQ(AvailableStreams(), before);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetStreamAvailableNum(nullptr));
}

TEST_F(StreamCreation, EndsWithTheLastNumberAndRecovers) {
  const std::uint32_t available = AvailableStreams();
  EXPECT_LE(available, 1984u);
  std::vector<aclrtStream> streams;
  aclrtStream stream = nullptr;
  aclError answer = ACL_SUCCESS;
  while (streams.size() <= 1984 && (answer = aclrtCreateStream(&stream)) == ACL_SUCCESS) {
    streams.push_back(stream);
  }
  EXPECT_ACL(ACL_ERROR_RT_NO_STREAM_RESOURCE, answer);
  EXPECT_EQ(streams.size(), available);
  EXPECT_EQ(AvailableStreams(), 0u);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_NO_STREAM_RESOURCE);

  ASSERT_FALSE(streams.empty());
  Destroy(streams.back());
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&streams.back())) << "one was given back";
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(streams.back()));
  for (const aclrtStream one : streams)
    Destroy(one);
  EXPECT_EQ(AvailableStreams(), available);
}

TEST_F(StreamCreation, NumbersOfDevicesAreSeparate) {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  const std::uint32_t before = AvailableStreams();
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const aclrtStream stream = Create(0, 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  EXPECT_EQ(AvailableStreams(), before);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Destroy(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDeviceForce(1));
}

// ---- the default stream by NULL ----

class NullStream : public DeviceTest {};

TEST_F(NullStream, CanBeAsked) {
  std::int32_t id = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamGetId(nullptr, &id));
  EXPECT_GE(id, 0);
  EXPECT_LE(Priority(nullptr), 7u);
  EXPECT_EQ(Flags(nullptr) & kUnknownFlag, 0u);
}

TEST_F(NullStream, OutputsAreNeeded) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamGetId(nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamGetPriority(nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamGetFlags(nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamQuery(nullptr, nullptr));
}

TEST_F(NullStream, CannotBeDestroyed) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyStream(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyStreamForce(nullptr));
}

// ---- attributes ----

class StreamAttribute : public DeviceTest {};

TEST_F(StreamAttribute, FailureModeIsSetAndRead) {
  Stream stream;
  aclrtStreamAttrValue value = {};
  value.failureMode = 4711;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
  EXPECT_EQ(value.failureMode, ACL_CONTINUE_ON_FAILURE);
  value.failureMode = ACL_STOP_ON_FAILURE;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
  value.failureMode = 4711;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
  EXPECT_EQ(value.failureMode, ACL_STOP_ON_FAILURE);
}

TEST_F(StreamAttribute, IsKept) {
  const Stream stream;
  aclrtStreamAttrValue value = {};
  value.userCustomTag = 77;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
  value = {};
  value.overflowSwitch = 1;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value));
  value = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
  EXPECT_EQ(value.userCustomTag, 77U);
  EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value));
  EXPECT_EQ(value.overflowSwitch, 1U);
  EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
  EXPECT_EQ(value.failureMode, ACL_CONTINUE_ON_FAILURE);
  value.streamPriority = 99;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
  EXPECT_EQ(value.streamPriority, 0U);
}

TEST_F(StreamAttribute, IsRefusedWhereItCannotBe) {
  const Stream stream;
  aclrtStreamAttrValue value = {};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &value));
  const auto unknown = static_cast<aclrtStreamAttr>(7);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamAttribute(stream, unknown, &value));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtGetStreamAttribute(stream, unknown, &value));
}

TEST_F(StreamAttribute, ChecksItsArguments) {
  Stream stream;
  aclrtStreamAttrValue value = {};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamAttribute(stream, kUnknownAttribute, &value));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtGetStreamAttribute(stream, kUnknownAttribute, &value));
  const aclrtStream dead = DeadStream();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetStreamAttribute(dead, ACL_STREAM_ATTR_FAILURE_MODE, nullptr))
      << "the value comes before the handle";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
             aclrtSetStreamAttribute(dead, ACL_STREAM_ATTR_FAILURE_MODE, &value));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
             aclrtGetStreamAttribute(dead, ACL_STREAM_ATTR_FAILURE_MODE, &value));
}

// ---- handles ----

/// Every call that takes a stream handle, with arguments that are fine otherwise.
class StreamHandle : public DeviceTest {
 protected:
  static void ExpectRefused(aclrtStream handle, const std::string& what) {
    Event event;
    std::int32_t id = 0;
    std::uint32_t word = 0;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    const auto nothing = [](void*) {};
    const std::function<aclError()> calls[] = {
        [&] { return aclrtSynchronizeStream(handle); },
        [&] { return aclrtSynchronizeStreamWithTimeout(handle, 10); },
        [&] { return aclrtStreamQuery(handle, &status); },
        [&] { return aclrtStreamGetId(handle, &id); },
        [&] { return aclrtStreamGetPriority(handle, &word); },
        [&] { return aclrtStreamGetFlags(handle, &word); },
        [&] { return aclrtSetStreamFailureMode(handle, ACL_STOP_ON_FAILURE); },
        [&] { return aclrtStreamAbort(handle); },
        [&] { return aclrtRecordEvent(event, handle); },
        [&] { return aclrtStreamWaitEvent(handle, event); },
        [&] { return aclrtResetEvent(event, handle); },
        [&] { return aclrtLaunchHostFunc(handle, nothing, nullptr); },
        [&] { return aclrtSubscribeReport(1, handle); },
        [&] { return aclrtDestroyStream(handle); },
        [&] { return aclrtDestroyStreamForce(handle); },
    };
    for (const auto& call : calls) {
      EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, call()) << what << ", call " << &call - calls;
    }
  }
};

TEST_F(StreamHandle, IsDeadAfterDestroy) {
  ExpectRefused(DeadStream(), "destroyed");
}

TEST_F(StreamHandle, IsDeadAfterForcedDestroy) {
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
  ExpectRefused(stream, "destroyed by force");
}

TEST_F(StreamHandle, StaysDeadWhenItsPlaceIsUsedAgain) {
  const aclrtStream dead = DeadStream();
  Stream successor;
  ExpectRefused(dead, "destroyed");
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(successor));
}

TEST_F(StreamHandle, CannotBeForged) {
  std::uint64_t words[8] = {0x5354524D, 0, 0x5354524D, 0, 0, 0, 0, 0};
  ExpectRefused(words, "memory of the program");
  ExpectRefused(reinterpret_cast<void*>(std::uintptr_t{1}), "the number 1");
  ExpectRefused(reinterpret_cast<void*>(~std::uintptr_t{0}), "the largest number");
  ExpectRefused(reinterpret_cast<void*>(std::uintptr_t{0x00DEADBEEF00}), "an unmapped address");
}

TEST_F(StreamHandle, OfAnotherTypeIsRefused) {
  Event event;
  ExpectRefused(event, "an event");
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&context));
  ExpectRefused(context, "a context");
}

}  // namespace
}  // namespace sampan::test::stream_test
