// A wait for one recording of a shared event went on when a later recording on another stream was complete:
// it read stale bytes with code 0. And recording on a full stream blocked other threads' queries.
// Rule of docs/BEHAVIOUR.md: share-8.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/second_user.h"
#include "tests/support/stream.h"

namespace sampan::test::ipc_recording_order_test {
namespace {

/// Long enough for a wait that is not held back.
constexpr std::int32_t kShortWaitMs = 300;
constexpr std::int32_t kLongWaitMs = 20'000;

class IpcEvent {
 public:
  IpcEvent() { EXPECT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event_, ACL_EVENT_IPC)); }
  explicit IpcEvent(const aclrtIpcEventHandle& handle) {
    EXPECT_ACL(ACL_SUCCESS, aclrtIpcOpenEventHandle(handle, &event_));
  }
  ~IpcEvent() { EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event_)); }
  IpcEvent(const IpcEvent&) = delete;
  IpcEvent& operator=(const IpcEvent&) = delete;
  operator aclrtEvent() const { return event_; }

 private:
  aclrtEvent event_ = nullptr;
};

void ExpectTheWaitToBeHeld(int later_recordings) {
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream held, idle, waiting;
  const IpcEvent event;
  Gate gate(held);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, held));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(waiting, event));
  for (int i = 0; i < later_recordings; ++i)
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, idle));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(idle));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(event));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiting, kShortWaitMs));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(waiting, kLongWaitMs));
}

TEST(IpcRecordingOrder, HoldsAWaitWhenALaterRecordingIsOver) {
  if (DoneInChild()) return;
  ExpectTheWaitToBeHeld(1);
}

// More recordings than the event's cell has words for.
TEST(IpcRecordingOrder, HoldsAWaitWhenManyLaterRecordingsAreOver) {
  if (DoneInChild()) return;
  ExpectTheWaitToBeHeld(40);
}

TEST(IpcRecordingOrder, HoldsTheWaitOfAnotherProcess) {
  if (DoneInChild()) return;
  const TalkingChild other([](TalkingChild& parent) {
    const auto handle = parent.Hear<aclrtIpcEventHandle>();
    if (aclrtSetDevice(0) != ACL_SUCCESS) ::_exit(1);
    const Stream waiting;
    const IpcEvent event(handle);
    parent.Tell(aclrtStreamWaitEvent(waiting, event));
    static_cast<void>(parent.Hear<bool>());  // the later recordings are over
    parent.Tell(aclrtSynchronizeStreamWithTimeout(waiting, kShortWaitMs));
    static_cast<void>(parent.Hear<bool>());  // the first one is, too
    parent.Tell(aclrtSynchronizeStreamWithTimeout(waiting, kLongWaitMs));
  });
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream held, idle;
  const IpcEvent event;
  aclrtIpcEventHandle handle{};
  ASSERT_ACL(ACL_SUCCESS, aclrtIpcGetEventHandle(event, &handle));
  Gate gate(held);
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, held));
  other.Tell(handle);
  EXPECT_EQ(other.Hear<aclError>(), ACL_SUCCESS);
  for (int i = 0; i < 7; ++i)  // one more would share a word with the first
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, idle));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(idle));
  other.Tell(true);
  EXPECT_EQ(other.Hear<aclError>(), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.Open();
  other.Tell(true);
  EXPECT_EQ(other.Hear<aclError>(), ACL_SUCCESS);
}

TEST(IpcRecordingOrder, LeavesQueriesAloneWhileAQueueIsFull) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream held;
  const IpcEvent event;
  aclrtContext context = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&context));
  Gate gate(held);
  std::atomic<int> recorded{0};
  std::thread recorder([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(context));
    for (; recorded < 4'000; ++recorded)
      EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, held));
  });
  for (int before = -1; before != recorded || before < 1'000;) {
    before = recorded;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_LT(recorded, 4'000) << "the queue is not full";
  auto query = std::async(std::launch::async, [&] {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(context));
    EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
    return status;
  });
  EXPECT_EQ(query.wait_for(std::chrono::seconds(5)), std::future_status::ready) << "the query hangs";
  const bool answered = query.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  gate.Open();
  recorder.join();
  const aclrtEventRecordedStatus status = query.get();
  if (answered) {
    EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(held));
}

}  // namespace
}  // namespace sampan::test::ipc_recording_order_test
