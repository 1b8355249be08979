// Many threads, streams and devices at once, with verified data.
#include <deque>

#include "tests/stress/stress_fixture.h"

namespace sampan::stress::concurrent_copies_test {
namespace {

class ConcurrentCopies : public StressTest {};

/// Up, across by another stream, down again; every call and the bytes are checked.
void RoundTrip(std::size_t bytes, std::uint32_t salt) {
  const Memory in = Memory::Pinned(bytes), out = Memory::Pinned(bytes);
  const Memory first = Memory::Device(bytes), second = Memory::Device(bytes);
  WritePattern(in.get(), bytes, salt);
  std::memset(out.get(), 0, bytes);
  aclrtStream up = nullptr, down = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&up));
  ASSERT_ACL(ACL_SUCCESS,
             aclrtCreateStreamWithConfig(&down, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
  aclrtEvent event = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));

  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(first.get(), bytes, 0xEE, bytes, up));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(first.get(), bytes, in.get(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, up));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, up));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(down, event));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(second.get(), bytes, first.get(), bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, down));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(out.get(), bytes, second.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST, down));
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamQuery(up, &status));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(down));
  EXPECT_TRUE(HoldsPattern(out.get(), bytes, salt));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(up));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(down));
}

TEST_F(ConcurrentCopies, EveryThreadWithItsOwnStreamsAndMemory) {
  OnThreads(kThreads, [](int thread) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(thread % kDevices));
    for (int round = 0; round < Scaled(150); ++round) {
      const std::size_t bytes = round % 16 == 0 ? 700000 : 100 + static_cast<std::size_t>(round) * 37;
      RoundTrip(bytes, static_cast<std::uint32_t>(thread * 1000 + round));
    }
  });
}

TEST_F(ConcurrentCopies, ManyThreadsShareOneStream) {
  constexpr std::size_t kSlice = 3000;
  const Memory device = Memory::Device(kSlice * kThreads);
  const Memory up = Memory::Pinned(kSlice * kThreads), down = Memory::Pinned(kSlice * kThreads);
  aclrtStream stream = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  OnThreads(kThreads, [&](int thread) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    const std::size_t at = kSlice * static_cast<std::size_t>(thread);
    for (int round = 0; round < Scaled(300); ++round) {
      const auto salt = static_cast<std::uint32_t>(thread * 777 + round);
      WritePattern(up.at(at), kSlice, salt);
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.at(at), kSlice, up.at(at), kSlice,
                                               ACL_MEMCPY_HOST_TO_DEVICE, stream));
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(down.at(at), kSlice, device.at(at), kSlice,
                                               ACL_MEMCPY_DEVICE_TO_HOST, stream));
      EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
      ASSERT_TRUE(HoldsPattern(down.at(at), kSlice, salt)) << "thread " << thread << ", round " << round;
    }
  });
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
}

TEST_F(ConcurrentCopies, SixtyFourStreamsHandABufferOn) {
  constexpr int kStreams = 64;
  constexpr std::size_t kBytes = 4096;
  std::vector<Memory> buffers;
  std::vector<aclrtStream> streams(kStreams);
  std::vector<aclrtEvent> events(kStreams);
  for (int i = 0; i < kStreams; ++i) {
    buffers.push_back(Memory::Device(kBytes));
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&streams[i]));
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC));
  }
  const Memory in = Memory::Pinned(kBytes), out = Memory::Pinned(kBytes);
  for (int round = 0; round < Scaled(60); ++round) {
    WritePattern(in.get(), kBytes, static_cast<std::uint32_t>(round));
    ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(buffers[0].get(), kBytes, in.get(), kBytes,
                                             ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
    ASSERT_ACL(ACL_SUCCESS, aclrtRecordEvent(events[0], streams[0]));
    for (int i = 1; i < kStreams; ++i) {
      ASSERT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(streams[i], events[i - 1]));
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(buffers[i].get(), kBytes, buffers[i - 1].get(), kBytes,
                                               ACL_MEMCPY_DEVICE_TO_DEVICE, streams[i]));
      ASSERT_ACL(ACL_SUCCESS, aclrtRecordEvent(events[i], streams[i]));
    }
    ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(out.get(), kBytes, buffers[kStreams - 1].get(), kBytes,
                                             ACL_MEMCPY_DEVICE_TO_HOST, streams[kStreams - 1]));
    ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(streams[kStreams - 1]));
    ASSERT_TRUE(HoldsPattern(out.get(), kBytes, static_cast<std::uint32_t>(round)));
  }
  for (int i = 0; i < kStreams; ++i) {
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(streams[i]));
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(events[i]));
  }
}

TEST_F(ConcurrentCopies, EventsRecordedAndAwaitedByManyThreads) {
  std::vector<aclrtEvent> events(4);
  for (aclrtEvent& event : events)
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  OnThreads(kThreads, [&](int thread) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    const Memory cell = Memory::Device(64);
    for (int round = 0; round < Scaled(400); ++round) {
      const aclrtEvent mine = events[static_cast<std::size_t>(thread + round) % events.size()];
      const aclrtEvent other = events[static_cast<std::size_t>(thread * 3 + round + 1) % events.size()];
      EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(cell.get(), 64, round, 64, stream));
      EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(mine, stream));
      EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(stream, other));
      aclrtEventRecordedStatus status;
      EXPECT_ACL(ACL_SUCCESS, aclrtQueryEventStatus(other, &status));
      if (round % 7 == 0) {
        EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeEvent(mine));
      }
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, 30000));
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  });
  for (const aclrtEvent event : events)
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event));
}

TEST_F(ConcurrentCopies, BatchesFromManyThreads) {
  static constexpr std::size_t kEntries = 40, kPiece = 584;
  OnThreads(kThreads, [](int thread) {
    const int device = thread % kDevices;
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(device));
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    const Memory host = Memory::Pinned(kEntries * kPiece), on_device = Memory::Device(kEntries * kPiece);
    std::vector<void*> device_side(kEntries), host_side(kEntries);
    std::vector<std::size_t> sizes(kEntries, kPiece);
    for (std::size_t i = 0; i < kEntries; ++i) {
      device_side[i] = on_device.at((kEntries - 1 - i) * kPiece);
      host_side[i] = host.at(i * kPiece);
    }
    const aclrtMemLocation at_device{static_cast<std::uint32_t>(device), ACL_MEM_LOCATION_TYPE_DEVICE};
    const aclrtMemLocation at_host{0, ACL_MEM_LOCATION_TYPE_HOST};
    aclrtMemcpyBatchAttr up{at_device, at_host, {}}, down{at_host, at_device, {}};
    std::size_t first = 0;
    for (int round = 0; round < Scaled(60); ++round) {
      const auto salt = static_cast<std::uint32_t>(thread + round * 13);
      WritePattern(host.get(), kEntries * kPiece, salt);
      std::size_t failed = 0;
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyBatchAsync(device_side.data(), sizes.data(), host_side.data(),
                                                    sizes.data(), kEntries, &up, &first, 1, &failed, stream));
      EXPECT_EQ(failed, SIZE_MAX);
      EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
      std::memset(host.get(), 0, kEntries * kPiece);
      EXPECT_ACL(ACL_SUCCESS,
                 aclrtMemcpyBatchAsync(host_side.data(), sizes.data(), device_side.data(), sizes.data(),
                                       kEntries, &down, &first, 1, &failed, stream));
      EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
      ASSERT_TRUE(HoldsPattern(host.get(), kEntries * kPiece, salt));
    }
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  });
}

TEST_F(ConcurrentCopies, AllocationsComeAndGoWhileOthersCopy) {
  std::size_t free_before = 0, total = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
  OnThreads(kThreads, [](int thread) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    std::deque<Memory> held;
    for (int round = 0; round < Scaled(500); ++round) {
      const std::size_t bytes = 1 + static_cast<std::size_t>(thread * 7919 + round * 104729) % 90000;
      held.push_back(Memory::Device(bytes));
      EXPECT_ACL(ACL_SUCCESS, aclrtMemset(held.back().get(), bytes, thread, bytes));
      std::uint8_t last = 0xFF;
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(&last, 1, held.back().at(bytes - 1), 1, ACL_MEMCPY_DEVICE_TO_HOST));
      EXPECT_EQ(last, thread);
      while (held.size() > 12 || (round % 20 == 0 && !held.empty()))
        held.pop_front();
    }
  });
  std::size_t free_after = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
  EXPECT_EQ(free_before, free_after);
}

}  // namespace
}  // namespace sampan::stress::concurrent_copies_test
