// Full queues: submitters block, nothing is lost, order is kept. Queues in line: a waiting thread takes its
// own. Rules of docs/BEHAVIOUR.md: stream-1.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <vector>

#include "tests/stress/stress_fixture.h"

namespace sampan::stress::queue_test {
namespace {

/// More than a queue holds.
constexpr int kMany = 4500;

class FullQueue : public StressTest {};
class ReadyQueues : public StressTest {};

TEST_F(FullQueue, BlocksTheSubmitterUntilThereIsRoom) {
  const Memory device = Memory::Device(64);
  aclrtStream stream = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  Barrier barrier;
  ASSERT_ACL(ACL_SUCCESS, barrier.Hold(stream));
  std::atomic<int> submitted = 0;
  std::thread opener([&] {
    int seen = -1;
    while (seen != submitted.load()) {
      seen = submitted.load();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_LT(seen, kMany) << "the queue never was full";
    barrier.Open();
  });
  for (int i = 0; i < kMany; ++i) {
    ASSERT_ACL(ACL_SUCCESS, aclrtMemsetAsync(device.get(), 64, i, 64, stream));
    ++submitted;
  }
  opener.join();
  ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  std::uint8_t last = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(&last, 1, device.at(63), 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(last, static_cast<std::uint8_t>(kMany - 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
}

TEST_F(FullQueue, ManySubmittersKeepTheirOwnOrder) {
  const Memory device = Memory::Device(64 * kThreads);
  aclrtStream stream = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  Barrier barrier;
  ASSERT_ACL(ACL_SUCCESS, barrier.Hold(stream));
  OnThreads(kThreads + 1, [&](int thread) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    if (thread == kThreads) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      barrier.Open();
      return;
    }
    void* const mine = device.at(64 * static_cast<std::size_t>(thread));
    for (int i = 0; i < kMany / kThreads + thread; ++i) {
      ASSERT_ACL(ACL_SUCCESS, aclrtMemsetAsync(mine, 64, i + 1, 64, stream));
    }
  });
  ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  for (int thread = 0; thread < kThreads; ++thread) {
    std::uint8_t last = 0;
    ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(&last, 1, device.at(64 * static_cast<std::size_t>(thread)), 1,
                                        ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(last, static_cast<std::uint8_t>(kMany / kThreads + thread));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
}

TEST_F(FullQueue, AFullStreamDoesNotHoldAnotherOne) {
  const Memory device = Memory::Device(128);
  aclrtStream full = nullptr, other = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&full));
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&other));
  Barrier barrier;
  ASSERT_ACL(ACL_SUCCESS, barrier.Hold(full));
  std::thread submitter([&] {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    for (int i = 0; i < kMany; ++i)
      ASSERT_ACL(ACL_SUCCESS, aclrtMemsetAsync(device.get(), 64, i, 64, full));
  });
  for (int i = 0; i < 500; ++i) {
    ASSERT_ACL(ACL_SUCCESS, aclrtMemsetAsync(device.at(64), 64, i, 64, other));
    ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(other));
  }
  barrier.Open();
  submitter.join();
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(full));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(other));
}

TEST_F(FullQueue, IsAbortedUnderItsSubmitters) {
  for (int round = 0; round < Scaled(10); ++round) {
    const Memory device = Memory::Device(64);
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    Barrier barrier;
    ASSERT_ACL(ACL_SUCCESS, barrier.Hold(stream));
    std::atomic<bool> submitting = true;
    std::thread submitter([&] {
      ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
      for (int i = 0; i < kMany; ++i) {
        const aclError code = aclrtMemsetAsync(device.get(), 64, i, 64, stream);
        ASSERT_TRUE(IsOneOf(code, {ACL_SUCCESS, ACL_ERROR_RT_STREAM_ABORT}));
      }
      submitting = false;
    });
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      barrier.Open();
    });
    while (submitting.load())
      EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
    submitter.join();
    opener.join();
    EXPECT_TRUE(IsOneOf(aclrtSynchronizeStream(stream), {ACL_SUCCESS, ACL_ERROR_RT_STREAM_ABORT}));
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  }
}

TEST_F(ReadyQueues, AWaitingCallTakesItsOwnFromAmongOthers) {
  constexpr std::size_t kStreams = 12, kPiece = 64 << 10, kLarge = 16 << 20;
  const Memory busy_host = Memory::Pinned(kLarge), busy_device = Memory::Device(kLarge);
  const Memory in = Memory::Pinned(kStreams * kPiece), device = Memory::Device(kStreams * kPiece),
               out = Memory::Pinned(kStreams * kPiece);
  std::vector<aclrtStream> streams(kStreams + 4);
  for (aclrtStream& stream : streams)
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  const auto at = [](const Memory& memory, std::size_t i) {
    return static_cast<char*>(memory.get()) + i * kPiece;
  };
  std::vector<std::size_t> order(kStreams);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < Scaled(60); ++round) {
    const auto salt = static_cast<unsigned>(round);
    WritePattern(in.get(), kStreams * kPiece, salt);
    // Large copies keep the engines, so that the others stay in line.
    for (std::size_t i = kStreams; i < streams.size(); ++i) {
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(busy_device.get(), kLarge, busy_host.get(), kLarge,
                                               ACL_MEMCPY_HOST_TO_DEVICE, streams[i]));
    }
    for (std::size_t i = 0; i < kStreams; ++i) {
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(at(device, i), kPiece, at(in, i), kPiece,
                                               ACL_MEMCPY_HOST_TO_DEVICE, streams[i]));
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(at(out, i), kPiece, at(device, i), kPiece,
                                               ACL_MEMCPY_DEVICE_TO_HOST, streams[i]));
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order)
      ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(streams[i]));
    ASSERT_TRUE(HoldsPattern(out.get(), kStreams * kPiece, salt));
  }
  for (aclrtStream stream : streams)
    ASSERT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
}

}  // namespace
}  // namespace sampan::stress::queue_test
