// Streams, memory, contexts and devices that go away while work is in flight.
#include <atomic>

#include "tests/stress/stress_fixture.h"

namespace sampan::stress::lifetime_test {
namespace {

constexpr std::size_t kBytes = 20000;

class Lifetime : public StressTest {};

TEST_F(Lifetime, DestroyingAStreamWaitsForItsWork) {
  const Memory in = Memory::Pinned(kBytes), out = Memory::Pinned(kBytes), device = Memory::Device(kBytes);
  for (int round = 0; round < Scaled(200); ++round) {
    const auto salt = static_cast<std::uint32_t>(round);
    WritePattern(in.get(), kBytes, salt);
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    for (int i = 0; i < 5; ++i) {
      ASSERT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsync(device.get(), kBytes, in.get(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(out.get(), kBytes, device.get(), kBytes,
                                               ACL_MEMCPY_DEVICE_TO_HOST, stream));
    }
    ASSERT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
    ASSERT_TRUE(HoldsPattern(out.get(), kBytes, salt));
    ASSERT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
  }
}

TEST_F(Lifetime, DestroyingByForceDropsWhatHasNotStarted) {
  for (int round = 0; round < Scaled(100); ++round) {
    const Memory host = Memory::Pinned(kBytes), device = Memory::Device(kBytes),
                 witness = Memory::Pinned(kBytes);
    WritePattern(witness.get(), kBytes, 5);
    Barrier barrier;
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    const bool held = round % 2 == 0;
    if (held) {
      ASSERT_ACL(ACL_SUCCESS, barrier.Hold(stream));
    }
    for (int i = 0; i < 10; ++i) {
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.get(), kBytes, host.get(), kBytes,
                                               ACL_MEMCPY_HOST_TO_DEVICE, stream));
    }
    if (held) {
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(witness.get(), kBytes, device.get(), kBytes,
                                               ACL_MEMCPY_DEVICE_TO_HOST, stream));
      // The function that holds the stream has to end some day; the work behind it must not run then.
      std::thread opener([&] {
        aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
        while (aclrtStreamQuery(stream, &status) != ACL_ERROR_RT_INVALID_HANDLE)
          std::this_thread::yield();
        // The handle is dead, and the work is dropped next.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        barrier.Open();
      });
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
      opener.join();
    } else {
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
    }
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
    EXPECT_TRUE(HoldsPattern(witness.get(), kBytes, 5)) << "dropped work ran";
  }
}

TEST_F(Lifetime, SubmittersLoseTheirStream) {
  for (int round = 0; round < Scaled(40); ++round) {
    const Memory host = Memory::Pinned(kBytes), device = Memory::Device(kBytes * kThreads);
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    std::atomic<int> submitted = 0;
    OnThreads(kThreads, [&](int thread) {
      ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
      if (thread == 0) {
        while (submitted.load() < 20)
          std::this_thread::yield();
        const aclError code = round % 2 == 0 ? aclrtDestroyStream(stream) : aclrtDestroyStreamForce(stream);
        EXPECT_EQ(code, ACL_SUCCESS);
        return;
      }
      void* const mine = device.at(kBytes * static_cast<std::size_t>(thread));
      for (;;) {
        const aclError code =
            aclrtMemcpyAsync(mine, kBytes, host.get(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream);
        ++submitted;
        ASSERT_TRUE(IsOneOf(code, {ACL_SUCCESS, ACL_ERROR_RT_INVALID_HANDLE}));
        if (code != ACL_SUCCESS) return;
        if (thread % 2 == 0) {
          ASSERT_TRUE(IsOneOf(aclrtSynchronizeStream(stream),
                              {ACL_SUCCESS, ACL_ERROR_RT_INVALID_HANDLE, ACL_ERROR_RT_STREAM_ABORT}));
        }
      }
    });
  }
}

TEST_F(Lifetime, FreedMemoryIsNotTouchedByQueuedCopies) {
  for (int round = 0; round < Scaled(60); ++round) {
    Memory source = Memory::Pinned(kBytes);
    Memory target = Memory::Device(kBytes);
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    Barrier barrier;
    ASSERT_ACL(ACL_SUCCESS, barrier.Hold(stream));
    ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(target.get(), kBytes, source.get(), kBytes,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream));
    ASSERT_ACL(ACL_SUCCESS, aclrtFree(target.Release()));
    const Memory next_owner = Memory::Device(kBytes);
    ASSERT_ACL(ACL_SUCCESS, aclrtMemset(next_owner.get(), kBytes, 0x42, kBytes));
    if (round % 2 == 0) {
      ASSERT_ACL(ACL_SUCCESS, aclrtFreeHost(source.Release()));
    }
    barrier.Open();
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    std::vector<std::uint8_t> seen(kBytes);
    ASSERT_ACL(ACL_SUCCESS,
               aclrtMemcpy(seen.data(), kBytes, next_owner.get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(seen, std::vector<std::uint8_t>(kBytes, 0x42));
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  }
}

TEST_F(Lifetime, MemoryIsFreedUnderRunningCopies) {
  OnThreads(kThreads, [](int thread) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(thread % kDevices));
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    for (int round = 0; round < Scaled(150); ++round) {
      Memory host = Memory::Pinned(kBytes), device = Memory::Device(kBytes);
      for (int i = 0; i < 4; ++i) {
        EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.get(), kBytes, host.get(), kBytes,
                                                 ACL_MEMCPY_HOST_TO_DEVICE, stream));
        EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(host.get(), kBytes, device.get(), kBytes,
                                                 ACL_MEMCPY_DEVICE_TO_HOST, stream));
      }
      EXPECT_ACL(ACL_SUCCESS, aclrtFree(device.Release()));
      EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(host.Release()));
      if (round % 3 == 0) {
        EXPECT_TRUE(IsOneOf(aclrtSynchronizeStream(stream), {ACL_SUCCESS, ACL_ERROR_RT_SYS_DMA}));
      }
    }
    EXPECT_TRUE(IsOneOf(aclrtSynchronizeStream(stream), {ACL_SUCCESS, ACL_ERROR_RT_SYS_DMA}));
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  });
}

TEST_F(Lifetime, ResettingADeviceWaitsForItsWork) {
  const Memory in = Memory::Pinned(kBytes), out = Memory::Pinned(kBytes);
  for (int round = 0; round < Scaled(30); ++round) {
    const auto salt = static_cast<std::uint32_t>(round + 50);
    WritePattern(in.get(), kBytes, salt);
    Memory device = Memory::Device(kBytes);
    aclrtStream stream = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    for (int i = 0; i < 20; ++i) {
      ASSERT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsync(device.get(), kBytes, in.get(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    }
    ASSERT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(out.get(), kBytes, device.get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    ASSERT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
    EXPECT_TRUE(HoldsPattern(out.get(), kBytes, salt));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(stream));
    // The memory went with the device.
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(device.Release()));
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  }
}

TEST_F(Lifetime, ResettingADeviceByForceUnderItsUsers) {
  for (int round = 0; round < Scaled(30); ++round) {
    std::atomic<int> busy = 0;
    std::atomic<bool> reset = false;
    OnThreads(kThreads, [&](int thread) {
      ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
      if (thread == 0) {
        while (busy.load() < kThreads - 1)
          std::this_thread::yield();
        EXPECT_ACL(ACL_SUCCESS, aclrtResetDeviceForce(1));
        reset = true;
        return;
      }
      void *host = nullptr, *device = nullptr;
      aclrtStream stream = nullptr;
      EXPECT_ACL(ACL_SUCCESS, aclrtMallocHost(&host, kBytes));
      EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
      EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
      ++busy;
      // Every call may fail once the device is gone; all of them must come back.
      while (!reset.load()) {
        aclrtMemcpyAsync(device, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream);
        aclrtMemsetAsync(device, kBytes, thread, kBytes, stream);
        if (thread % 2 == 0) aclrtSynchronizeStream(stream);
        if (thread % 3 == 0) aclrtSynchronizeDevice();
      }
      EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
      EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(device));
      EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(host));
    });
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  }
}

TEST_F(Lifetime, ContextsComeAndGoWithTheirStreams) {
  OnThreads(kThreads, [](int thread) {
    for (int round = 0; round < Scaled(60); ++round) {
      aclrtContext context = nullptr;
      ASSERT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, thread % kDevices));
      aclrtStream stream = nullptr;
      ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
      const Memory host = Memory::Pinned(kBytes), device = Memory::Device(kBytes);
      for (int i = 0; i < 5; ++i) {
        ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.get(), kBytes, host.get(), kBytes,
                                                 ACL_MEMCPY_HOST_TO_DEVICE, i % 2 == 0 ? stream : nullptr));
      }
      if (round % 2 == 0) {
        EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeDevice());
      }
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
      EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStreamWithTimeout(stream, 1000));
    }
  });
}

TEST_F(Lifetime, AbortedStreamsAreUsedAgain) {
  const Memory host = Memory::Pinned(kBytes), back = Memory::Pinned(kBytes), device = Memory::Device(kBytes);
  WritePattern(host.get(), kBytes, 9);
  aclrtStream stream = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  std::atomic<bool> over = false;
  std::atomic<int> submitted = 0;
  OnThreads(4, [&](int thread) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    if (thread == 0) {
      for (int round = 0; round < Scaled(200); ++round) {
        const int before = submitted.load();
        while (submitted.load() < before + 10)
          std::this_thread::yield();
        EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(stream));
      }
      over = true;
      return;
    }
    while (!over.load()) {
      EXPECT_TRUE(IsOneOf(
          aclrtMemcpyAsync(device.get(), kBytes, host.get(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream),
          {ACL_SUCCESS, ACL_ERROR_RT_STREAM_ABORT}));
      ++submitted;
      if (thread == 1) {
        EXPECT_TRUE(IsOneOf(aclrtSynchronizeStream(stream), {ACL_SUCCESS, ACL_ERROR_RT_STREAM_ABORT}));
      }
    }
  });
  EXPECT_TRUE(IsOneOf(aclrtSynchronizeStream(stream), {ACL_SUCCESS, ACL_ERROR_RT_STREAM_ABORT}));
  ASSERT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(device.get(), kBytes, host.get(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  ASSERT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(back.get(), kBytes, device.get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(HoldsPattern(back.get(), kBytes, 9));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
}

/// One thread's reset may be the device's last one, while the next thread sets it and allocates.
TEST(ThreadsOfTheirOwn, SetTheDeviceAllocateAndResetIt) {
  OnThreads(4, [](int thread) {
    std::vector<std::uint8_t> there(kBytes), back(kBytes);
    for (int round = 0; round < Scaled(300) && !::testing::Test::HasFailure(); ++round) {
      ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
      void* memory = nullptr;
      ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
      const auto salt = static_cast<std::uint32_t>(4 * round + thread);
      WritePattern(there.data(), kBytes, salt);
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(memory, kBytes, there.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
      ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(back.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
      ASSERT_TRUE(HoldsPattern(back.data(), kBytes, salt));
      ASSERT_ACL(ACL_SUCCESS, aclrtFree(memory));
      ASSERT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
    }
  });
}

}  // namespace
}  // namespace sampan::stress::lifetime_test
