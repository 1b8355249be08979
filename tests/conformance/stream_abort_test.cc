// Aborting and stopping streams.
// Rules of docs/BEHAVIOUR.md: stream-4.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::stream_abort_test {
namespace {

/// A stream that waits for an event of another, held one, with a copy behind the wait.
class StreamAbort : public DeviceTest {
 protected:
  static constexpr std::byte kWritten{0x44};

  struct Scene {
    Scene() {
      source.Write(0, Bytes{kWritten});
      *target.at(0) = std::byte{0};
    }
    /// Queues the wait and the copy.
    void Queue(aclrtStream stream) {
      EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, other));
      EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(stream, event));
      Copy(stream);
    }
    void Copy(aclrtStream stream) {
      EXPECT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsync(target.data(), 1, source.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    }
    bool Copied() const { return *target.at(0) == kWritten; }

    DeviceBuffer source{1};
    PinnedBuffer target{1};
    Stream other;
    Event event;
    Gate gate{other};
  };

  /// Returns the code of a call that waits for the stream while this thread aborts its work. This thread
  /// cannot see that the other one has begun to wait. If the abort is too early, the call succeeds, and the
  /// next attempt waits longer. `end` returns the stream, if there still is one.
  template <typename Wait, typename End>
  static aclError AnswerWhile(Wait wait, End end) {
    aclError answer = ACL_SUCCESS;
    for (int pause_ms = 1; answer == ACL_SUCCESS && pause_ms <= 512; pause_ms *= 2) {
      Scene scene;
      Stream stream;
      scene.Queue(stream);
      std::atomic<bool> begins = false;
      std::thread waiting([&, handle = stream.get()] {
        EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
        begins = true;
        answer = wait(handle);
        EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
      });
      while (!begins)
        std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
      const aclrtStream left = end(stream);
      scene.gate.Open();
      waiting.join();
      EXPECT_FALSE(scene.Copied());
      if (left != nullptr) {
        EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(left)) << "only who waited is told";
      }
    }
    return answer;
  }
};

TEST_F(StreamAbort, DropsQueuedWork) {
  Scene scene;
  Stream stream;
  scene.Queue(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, 2000)) << "nothing is left to wait for";
  scene.gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
  EXPECT_FALSE(scene.Copied());
}

TEST_F(StreamAbort, LeavesTheStreamUsable) {
  Scene scene;
  Stream stream;
  scene.Queue(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
  scene.Copy(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, 2000));
  EXPECT_TRUE(scene.Copied());
}

TEST_F(StreamAbort, OfNullIsTheDefaultStream) {
  Scene scene;
  scene.Queue(nullptr);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(nullptr));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(nullptr, 2000));
  EXPECT_FALSE(scene.Copied());
}

TEST_F(StreamAbort, OfAnIdleStreamDoesNothing) {
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(StreamAbort, LeavesOtherStreamsAlone) {
  Scene scene, untouched;
  Stream aborted, stream;
  scene.Queue(aborted);
  untouched.Queue(stream);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(aborted));
  untouched.gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(untouched.Copied());
  EXPECT_FALSE(scene.Copied());
}

TEST_F(StreamAbort, TellsAConcurrentSynchroniser) {
  const aclError answer = AnswerWhile(aclrtSynchronizeStream, [](Stream& stream) {
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
    return stream.get();
  });
  EXPECT_EQ(answer, ACL_ERROR_RT_STREAM_ABORT);
}

TEST_F(StreamAbort, OfADeviceTellsAConcurrentSynchroniser) {
  const aclError answer = AnswerWhile(aclrtSynchronizeStream, [](Stream& stream) {
    EXPECT_ACL(ACL_SUCCESS, aclrtDeviceTaskAbort(0, 0));
    return stream.get();
  });
  EXPECT_EQ(answer, ACL_ERROR_RT_DEVICE_TASK_ABORT);
}

TEST_F(StreamAbort, ByAForcedEndTellsAConcurrentSynchroniserToo) {
  const auto destroy = [](Stream& stream) -> aclrtStream {
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(stream.Release()));
    return nullptr;
  };
  EXPECT_EQ(AnswerWhile(aclrtSynchronizeStream, destroy), ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(AnswerWhile([](aclrtStream) { return aclrtSynchronizeDeviceWithTimeout(5000); }, destroy),
            ACL_ERROR_RT_STREAM_ABORT);
}

TEST_F(StreamAbort, RefusesDeadHandles) {
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamAbort(DeadStream()));
}

// ---- stop ----

class StreamStop : public DeviceTest {};

TEST_F(StreamStop, NeedsAStream) {
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamStop(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamStop(DeadStream()));
}

TEST_F(StreamStop, OfAnIdleStreamKeepsItUsable) {
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamStop(stream));
  DeviceBuffer buffer(1);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(buffer.data(), 1, 7, 1, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(buffer.Read(0, 1), Bytes{std::byte{7}});
}

}  // namespace
}  // namespace sampan::test::stream_abort_test
