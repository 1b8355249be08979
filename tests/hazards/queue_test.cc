// Hazards of waiting: a full queue that its own submitter drains, waits for nothing. Ids: docs/BEHAVIOUR.md.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::hazard_queue_test {
namespace {

constexpr std::size_t kQueueDepth = 1792, kTasks = 3 * kQueueDepth;

class HazardQueue : public CopyTest {
 protected:
  /// Task i writes its own byte.
  static void Queue(const GuardedBuffer& dst, const PinnedBuffer& src, std::size_t task, aclrtStream on) {
    ASSERT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(dst.at(task), 1, src.at(task), 1, ACL_MEMCPY_HOST_TO_DEVICE, on));
  }
};

// hazard-10: only the submitting thread takes part. It must get through in every schedule.
TEST_F(HazardQueue, OneThreadSubmitsMoreThanTheQueueHolds) {
  PinnedBuffer src(kTasks);
  GuardedBuffer dst(Place::kDevice, kTasks);
  const Bytes contents = random().Fill(kTasks);
  src.Write(0, contents);
  for (std::size_t task = 0; task < kTasks; ++task)
    Queue(dst, src, task, stream());
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents));
}

TEST_F(HazardQueue, AFullQueueGoesOnWhenItsGateIsOpened) {
  PinnedBuffer src(kTasks);
  GuardedBuffer dst(Place::kDevice, kTasks);
  const Bytes contents = random().Fill(kTasks);
  src.Write(0, contents);
  Gate gate(stream());
  std::atomic<std::size_t> submitted = 0;
  bool moved_early = false;
  std::thread opener([&] {
    while (submitted < kQueueDepth / 2)
      std::this_thread::yield();
    std::byte first{};
    aclrtSetDevice(0);
    aclrtMemcpy(&first, 1, dst.at(0), 1, ACL_MEMCPY_DEVICE_TO_HOST);
    aclrtResetDevice(0);
    moved_early = first != GuardedBuffer::kBackground;
    gate.Open();
  });
  for (std::size_t task = 0; task < kTasks; ++task) {
    Queue(dst, src, task, stream());
    ++submitted;
  }
  opener.join();
  Synchronize();
  EXPECT_FALSE(moved_early);
  EXPECT_TRUE(dst.Holds(contents));
}

TEST_F(HazardQueue, AFullQueueDoesNotHoldOthersBack) {
  PinnedBuffer src(kTasks);
  GuardedBuffer dst(Place::kDevice, kTasks);
  const Bytes contents = random().Fill(kTasks);
  src.Write(0, contents);
  Stream held;
  Gate gate(held);
  for (std::size_t task = 0; task < kQueueDepth / 2; ++task)
    Queue(dst, src, 0, held);
  for (std::size_t task = 0; task < kTasks; ++task)
    Queue(dst, src, task, stream());
  Synchronize();
  EXPECT_FALSE(gate.passed());
  EXPECT_TRUE(dst.Holds(contents));
}

// Two full streams that wait for each other's events in turn: the submitter must not deadlock with them.
TEST_F(HazardQueue, TwoStreamsInTurns) {
  constexpr std::size_t kRounds = 1500;
  DeviceBuffer block(64);
  PinnedBuffer src(kRounds), back(kRounds);
  const Bytes contents = random().Fill(kRounds);
  src.Write(0, contents);
  Stream reader;
  aclrtEvent filled = nullptr, drained = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&filled, ACL_EVENT_SYNC));
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&drained, ACL_EVENT_SYNC));
  for (std::size_t round = 0; round < kRounds; ++round) {
    ASSERT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(stream(), drained));
    ASSERT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(block.data(), 1, src.at(round), 1, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    ASSERT_ACL(ACL_SUCCESS, aclrtRecordEvent(filled, stream()));
    ASSERT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(reader, filled));
    ASSERT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(back.at(round), 1, block.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST, reader));
    ASSERT_ACL(ACL_SUCCESS, aclrtRecordEvent(drained, reader));
  }
  Synchronize();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(reader));
  EXPECT_TRUE(SameBytes(contents, back.Read(0, kRounds)));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(filled));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(drained));
}

/// What a host function of the test below counts.
struct Turns {
  std::atomic<std::size_t> taken = 0;
  static void Take(void* turns) { ++static_cast<Turns*>(turns)->taken; }
};

// Functions that end as fast as they start, between copies: the queue must neither lose nor repeat a turn.
TEST_F(HazardQueue, HostFunctionsThatEndAtOnce) {
  constexpr std::size_t kRounds = 2000;
  PinnedBuffer src(2 * kRounds);
  GuardedBuffer dst(Place::kDevice, 2 * kRounds);
  const Bytes contents = random().Fill(2 * kRounds);
  src.Write(0, contents);
  Turns turns;
  for (std::size_t round = 0; round < kRounds; ++round) {
    ASSERT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream(), &Turns::Take, &turns));
    ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst.at(2 * round), 2, src.at(2 * round), 2,
                                             ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream()));
    ASSERT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream(), &Turns::Take, &turns));
  }
  Synchronize();
  EXPECT_EQ(turns.taken, 2 * kRounds);
  EXPECT_TRUE(dst.Holds(contents));
}

// hazard-13: waiting for an event that was never recorded lets the copy pass: the missing order shows as old
// bytes.
TEST_F(HazardQueue, WaitForAnEventThatWasNeverRecordedPasses) {
  constexpr std::size_t kBytes = 512;
  DeviceBuffer block(kBytes);
  PinnedBuffer fill(kBytes);
  GuardedBuffer back(Place::kPinned, kBytes);
  const Bytes stale = random().Fill(kBytes);
  block.Write(0, stale);
  fill.Write(0, random().Fill(kBytes));
  Stream reader;
  Event forgotten;
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(block.data(), kBytes, fill.data(), kBytes,
                                           ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(reader, forgotten));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(back.data(), kBytes, block.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, reader));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(reader));
  EXPECT_TRUE(back.Holds(stale));
}

}  // namespace
}  // namespace sampan::test::hazard_queue_test
