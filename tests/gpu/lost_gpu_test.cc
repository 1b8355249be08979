// A GPU whose context is lost: documented codes, a living process, and a working device after a reset.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "backend/api/backend.h"
#include "process/process.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/random_bytes.h"
#include "tests/support/stream.h"

namespace sampan::test::lost_gpu_test {
namespace {

class FailureKeeper final : public QueueListener {
 public:
  bool OnTaskFailed(std::uint64_t, Status failure) noexcept override {
    code_.store(static_cast<int>(failure.code()));
    return false;
  }
  int code() const { return code_.load(); }

 private:
  std::atomic<int> code_{0};
};

/// Makes a kernel access an invalid address, which destroys the context. Public calls would refuse it.
int LoseGpu(Backend& backend) {
  FailureKeeper listener;
  auto device = backend.Device(0);
  EXPECT_TRUE(device.ok());
  auto queue = (*device)->CreateQueue({.listener = listener, .depth = 64, .label = {}});
  EXPECT_TRUE(queue.ok());
  BatchTask batch(backend.segment_store());
  EXPECT_TRUE(batch.segments.Reserve(32).ok());
  auto* const nowhere = reinterpret_cast<std::byte*>(0x7000);
  for (int i = 0; i < 32; ++i)
    batch.segments.Append({nowhere + 512 * i, nowhere + 512 * (33 + i), 256});
  batch.bytes = 32 * 256;
  batch.longest = 256;
  batch.direction = Direction::kHostToDevice;
  Task task = std::move(batch);
  EXPECT_TRUE((*queue)->Submit(task, 0).ok());
  EXPECT_TRUE((*queue)->timeline()->Wait((*queue)->submitted(), kNever));
  (*queue)->Close();
  return listener.code();
}

TEST(LostGpu, WorksAgainAfterAReset) {
  if (DoneInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "4"}, {"SAMPAN_COPY_PATH", "kernel"}})) return;
  constexpr std::size_t kBytes = 1 << 20;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  void* pinned = nullptr;
  void* old_memory = nullptr;
  aclrtStream old_stream = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMallocHost(&pinned, kBytes));
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&old_memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&old_stream));
  Random random;
  const Bytes contents = random.Fill(kBytes);
  std::memcpy(pinned, contents.data(), kBytes);
  const auto copy_pageable = [&](void* device) {
    return aclrtMemcpy(device, kBytes, contents.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
  };
  ASSERT_ACL(ACL_SUCCESS, copy_pageable(old_memory)) << "its buffers are there when the GPU is lost";

  auto runtime = process::TheRuntime();
  ASSERT_TRUE(runtime.ok());
  EXPECT_EQ(LoseGpu((*runtime)->backend()), ACL_ERROR_RT_DEVICE_MEM_ERROR);

  // Every call on the device says so, and the message says what to do.
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_MEM_ERROR,
             aclrtMemcpyAsync(old_memory, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, old_stream));
  EXPECT_TRUE(MessageHas("reset the device"));
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_MEM_ERROR,
             aclrtMemcpy(old_memory, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_MEM_ERROR, copy_pageable(old_memory));
  EXPECT_EQ(std::memcmp(pinned, contents.data(), kBytes), 0) << "pinned memory is the host's";

  EXPECT_ACL(ACL_SUCCESS, aclrtResetDeviceForce(0));
  if (const aclError answer = aclrtSetDevice(0); answer != ACL_SUCCESS) {
    // Drivers that give a process no second context after a fault: told as such, and the process goes on.
    EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, answer);
    EXPECT_TRUE(MessageHas("no context"));
    EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0)) << "and again";
    EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));
    GTEST_SKIP() << "this driver gives no new context to a process after a fault";
  }
  const Stream stream;
  const DeviceBuffer memory(kBytes);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(memory.data(), kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(memory.Read(0, kBytes), contents);
  EXPECT_ACL(ACL_SUCCESS, copy_pageable(memory.data()));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));
}

TEST(LostGpu, EndsWhatWaitsForIt) {
  if (DoneInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "4"}, {"SAMPAN_COPY_PATH", "kernel"}})) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer memory(64);
  aclrtStream held = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&held));
  Gate gate(held);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(memory.data(), 64, 1, 64, held));
  auto runtime = process::TheRuntime();
  ASSERT_TRUE(runtime.ok());
  EXPECT_EQ(LoseGpu((*runtime)->backend()), ACL_ERROR_RT_DEVICE_MEM_ERROR);
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_MEM_ERROR, aclrtSynchronizeStreamWithTimeout(held, 5000))
      << "the gate is still shut";
  gate.Open();
}

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Copies to the device and back. False when either is refused; otherwise the bytes have to be right.
bool CopyThereAndBack(void* device, const void* there, void* back, std::size_t bytes, bool queued) {
  std::memset(back, 0, bytes);
  const auto copy = [&](void* dst, const void* src, aclrtMemcpyKind kind) {
    if (!queued) return aclrtMemcpy(dst, bytes, src, bytes, kind) == ACL_SUCCESS;
    return aclrtMemcpyAsync(dst, bytes, src, bytes, kind, nullptr) == ACL_SUCCESS &&
           aclrtSynchronizeStream(nullptr) == ACL_SUCCESS;
  };
  if (!copy(device, there, ACL_MEMCPY_HOST_TO_DEVICE) || !copy(back, device, ACL_MEMCPY_DEVICE_TO_HOST))
    return false;
  EXPECT_EQ(std::memcmp(there, back, bytes), 0) << bytes << " bytes";
  return true;
}

/// Copies in all ways that keep something for the next copy, for as long as that works: short and long ones
/// of pageable memory, by one thread and by several, and of pinned memory. Counts them.
void CopyWhileItWorks(const Bytes& contents, const std::atomic<bool>& stop, std::atomic<int>& copies) {
  constexpr std::size_t kMaxBytes = 4 * kMiB;
  void* device = nullptr;
  void* pinned = nullptr;
  Bytes back(kMaxBytes);
  if (aclrtMalloc(&device, kMaxBytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return;
  if (aclrtMallocHost(&pinned, 2 * kMiB) != ACL_SUCCESS) return;
  std::memcpy(pinned, contents.data(), kMiB);
  auto* const pinned_back = static_cast<std::byte*>(pinned) + kMiB;
  for (int i = 0; !stop.load(); ++i, ++copies) {
    const std::size_t sizes[] = {8192, kMiB / 4, kMaxBytes};
    const bool worked = i % 5 < 3
                            ? CopyThereAndBack(device, contents.data(), back.data(), sizes[i % 5], false)
                            : CopyThereAndBack(device, pinned, pinned_back, kMiB, i % 5 == 3);
    if (!worked) break;
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));  // the device's own went with its context, or will
}

/// Nothing that was created before the loss is used after it. Threads are in the middle of a copy at the loss
/// and at the reset. The child process is killed if this takes too long.
TEST(LostGpu, IsLostAndResetWhileThreadsCopy) {
  if (DoneInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "4"}, {"SAMPAN_COPY_PATH", "kernel"}})) return;
  constexpr int kThreads = 4, kRounds = 12;
  constexpr std::chrono::seconds kLongest{40};  // for all of it
  Random random;
  const Bytes contents = random.Fill(4 * kMiB);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  auto runtime = process::TheRuntime();
  ASSERT_TRUE(runtime.ok());
  std::atomic<bool> stop{false};
  std::atomic<int> copies{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) {
        if (aclrtSetDevice(0) == ACL_SUCCESS) CopyWhileItWorks(contents, stop, copies);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  const auto soon = [deadline = std::chrono::steady_clock::now() + kLongest](const auto& happened) {
    while (!happened() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return happened();
  };
  // aclrtSetDevice fails while others have a queue on the lost GPU, or while the device is being reset.
  aclError answer = ACL_SUCCESS;
  const auto answered = [&] {
    answer = aclrtSetDevice(0);
    return answer == ACL_SUCCESS || MessageHas("no context");
  };
  for (int round = 0; round < kRounds && answer == ACL_SUCCESS; ++round) {
    EXPECT_TRUE(soon([&, before = copies.load()] { return copies.load() > before + kThreads; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(random.Between(0, 5)));
    EXPECT_EQ(LoseGpu((*runtime)->backend()), ACL_ERROR_RT_DEVICE_MEM_ERROR) << "round " << round;
    std::this_thread::sleep_for(std::chrono::milliseconds(random.Between(0, 3)));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_TRUE(soon(answered)) << answer;
  }
  const bool has_context = answer == ACL_SUCCESS;
  stop.store(true);
  for (std::thread& thread : threads)
    thread.join();
  if (!has_context) GTEST_SKIP() << "this driver gives no new context to a process after a fault";
  const DeviceBuffer memory(kMiB);
  Bytes back(kMiB);
  EXPECT_TRUE(CopyThereAndBack(memory.data(), contents.data(), back.data(), kMiB, false));
}

}  // namespace
}  // namespace sampan::test::lost_gpu_test
