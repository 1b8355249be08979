// Waiting for streams, asking them, and destroying them with work in flight.
// Rules of docs/BEHAVIOUR.md: stream-4, stream-6, event-1.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/return_watch.h"
#include "tests/support/stream.h"

namespace sampan::test::stream_sync_test {
namespace {

aclrtStreamStatus Query(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
  return status;
}

/// A pinned word that a stream copies device memory into, so that it shows how far the stream has come.
class Trace {
 public:
  static constexpr std::byte kWritten{0x33};

  Trace() : source_(1), target_(1) {
    source_.Write(0, Bytes{kWritten});
    *target_.at(0) = std::byte{0};
  }
  void Queue(aclrtStream stream) {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(target_.data(), 1, source_.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  bool Reached() const { return *target_.at(0) == kWritten; }

 private:
  DeviceBuffer source_;
  PinnedBuffer target_;
};

class StreamSynchronize : public DeviceTest {};

TEST_F(StreamSynchronize, WaitsForWork) {
  Stream stream;
  Trace trace;
  ReturnWatch watch(stream);
  trace.Queue(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(watch.WorkWasOver());
  EXPECT_TRUE(trace.Reached());
}

TEST_F(StreamSynchronize, NullIsTheDefaultStream) {
  Trace trace;
  ReturnWatch watch(nullptr);
  trace.Queue(nullptr);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(watch.WorkWasOver());
  EXPECT_TRUE(trace.Reached());
}

TEST_F(StreamSynchronize, OfTheDefaultStreamNeedsAContext) {
  OnNewThread([] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStreamWithTimeout(nullptr, 10));
  });
}

TEST_F(StreamSynchronize, ChecksItsTimeout) {
  Stream stream;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(stream, -2));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(stream, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, -1));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, 1));
}

TEST_F(StreamSynchronize, TimeoutLeavesTheStreamUsable) {
  Stream stream;
  Trace trace;
  {
    Gate gate(stream);
    trace.Queue(stream);
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 10));
    EXPECT_TRUE(MessageHas("time limit of 10 ms"));
    EXPECT_FALSE(trace.Reached());
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, -1));
  EXPECT_TRUE(trace.Reached());
}

TEST_F(StreamSynchronize, WorksFromSeveralThreadsAtOnce) {
  Stream stream;
  Trace trace;
  Gate gate(stream);
  trace.Queue(stream);
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.emplace_back([&] {
      EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
      EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
      EXPECT_TRUE(trace.Reached());
      EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
    });
  }
  gate.Open();
  for (std::thread& waiter : waiters)
    waiter.join();
}

TEST_F(StreamSynchronize, ReturnsAtOnceForStreamsThatNeverEnd) {
  for (const std::uint32_t flag :
       {ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
    Stream stream(flag);
    Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream)) << "flag " << flag;
    EXPECT_FALSE(gate.passed()) << "flag " << flag;
  }
}

TEST_F(StreamSynchronize, OfTheWholeDeviceLeavesOutFewer) {
  Stream persistent(ACL_STREAM_PERSISTENT), of_device(ACL_STREAM_DEVICE_USE_ONLY);
  Gate first(persistent), second(of_device);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
  Stream scheduled(ACL_STREAM_CPU_SCHEDULE);
  Gate gate(scheduled);
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(20));
  EXPECT_TRUE(MessageHas("time limit of 20 ms"));
}

TEST_F(StreamSynchronize, WaitsForOneStreamOnly) {
  Stream held, free;
  Gate gate(held);
  Trace trace;
  trace.Queue(free);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(free));
  EXPECT_TRUE(trace.Reached());
  EXPECT_FALSE(gate.passed());
}

// ---- query ----

class StreamQuery : public DeviceTest {};

TEST_F(StreamQuery, TellsWorkFromNone) {
  Stream stream;
  EXPECT_EQ(Query(stream), ACL_STREAM_STATUS_COMPLETE);
  {
    Gate gate(stream);
    EXPECT_EQ(Query(stream), ACL_STREAM_STATUS_NOT_READY);
    EXPECT_EQ(Query(stream), ACL_STREAM_STATUS_NOT_READY);
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(Query(stream), ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(StreamQuery, SeesTheEndWhenItIsRepeated) {
  Stream stream;
  Trace trace;
  for (int i = 0; i < 10; ++i)
    trace.Queue(stream);
  while (Query(stream) != ACL_STREAM_STATUS_COMPLETE)
    std::this_thread::yield();
  EXPECT_TRUE(trace.Reached());
}

TEST_F(StreamQuery, NeedsTheStatusBeforeTheHandle) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamQuery(nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamQuery(DeadStream(), nullptr));
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamQuery(DeadStream(), &status));
  OnNewThread([] {
    aclrtStreamStatus unused = ACL_STREAM_STATUS_RESERVED;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamQuery(nullptr, &unused));
  });
}

// ---- destroy ----

class StreamDestroy : public DeviceTest {};

TEST_F(StreamDestroy, WaitsForWork) {
  Trace trace;
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  ReturnWatch watch(stream);
  trace.Queue(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  EXPECT_TRUE(watch.WorkWasOver());
  EXPECT_TRUE(trace.Reached());
}

TEST_F(StreamDestroy, ByForceDiscardsWork) {
  Trace trace;
  Stream other;
  Event event;
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  Gate gate(other);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, other));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(stream, event));
  trace.Queue(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
  EXPECT_FALSE(trace.Reached());
}

TEST_F(StreamDestroy, ByForceDoesNotWaitForAHostFunction) {
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  Gate gate(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
  EXPECT_FALSE(gate.passed());
}

TEST_F(StreamDestroy, ByForceOfAnIdleStream) {
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
}

TEST_F(StreamDestroy, ReleasesAnEventRecordedThere) {
  aclrtStream stream = nullptr;
  Event event;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEventWithTimeout(event, 2000));
}

}  // namespace
}  // namespace sampan::test::stream_sync_test
