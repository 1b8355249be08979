// What queueing a linear copy costs: no allocation on the submitting thread, a bounded place in the queue.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "acl/acl.h"
#include "backend/api/task.h"

namespace {

thread_local bool counting = false;
thread_local std::size_t counted = 0;
thread_local std::ptrdiff_t living = 0;  // of those made or ended while counting

void* CountedNew(std::size_t bytes) {
  if (counting) ++counted, ++living;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

void CountedDelete(void* memory) {
  if (counting && memory != nullptr) --living;
  std::free(memory);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return CountedNew(bytes);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return CountedNew(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  CountedDelete(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  CountedDelete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  CountedDelete(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  CountedDelete(memory);
}

namespace {

class SubmissionCost : public testing::Test {
 protected:
  static constexpr std::size_t kShort = 4096, kLong = 65536;

  void SetUp() override {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&device_, kLong, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&pinned_, kLong), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(device_), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(pinned_), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  }

  aclError Copy(std::size_t bytes) const {
    return aclrtMemcpyAsync(device_, bytes, pinned_, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
  }
  void ExpectNoAllocation(std::size_t bytes) const {
    constexpr std::size_t kCopies = 20000;
    aclError first_failure = ACL_SUCCESS;
    counting = true;
    // Enough to fill the queue, so that waiting for room is counted too. What the thread keeps for later is
    // made with its first copy.
    for (std::size_t i = 0; i < kCopies; ++i) {
      if (i == 1) counted = 0;
      if (const aclError code = Copy(bytes); code != ACL_SUCCESS) first_failure = code;
    }
    counting = false;
    EXPECT_EQ(first_failure, ACL_SUCCESS);
    EXPECT_EQ(counted, 0U);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }

  void* device_ = nullptr;
  void* pinned_ = nullptr;
  aclrtStream stream_ = nullptr;
};

TEST_F(SubmissionCost, AShortCopyAllocatesNothing) {
  ExpectNoAllocation(kShort);
}

TEST_F(SubmissionCost, AQueuedCopyAllocatesNothing) {
  ExpectNoAllocation(kLong);
}

// The segments and uses of a short batch lie inside its task.
TEST_F(SubmissionCost, ABatchOfEightEntriesAllocatesNothing) {
  constexpr std::size_t kEntries = 8, kBytes = 64;
  std::vector<void*> dsts, srcs;
  for (std::size_t i = 0; i < kEntries; ++i) {
    dsts.push_back(static_cast<std::byte*>(device_) + 2 * i * kBytes);
    srcs.push_back(static_cast<std::byte*>(pinned_) + 2 * i * kBytes);
  }
  std::vector<std::size_t> sizes(kEntries, kBytes);
  aclrtMemcpyBatchAttr attribute{{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}};
  std::size_t first = 0, failed = 0;
  counting = true;
  for (int i = 0; i < 100; ++i) {
    if (i == 1) counted = 0;  // what the thread keeps is made with its first copy
    const aclError code = aclrtMemcpyBatchAsync(dsts.data(), sizes.data(), srcs.data(), sizes.data(),
                                                kEntries, &attribute, &first, 1, &failed, stream_);
    if (code != ACL_SUCCESS) failed = kEntries;
  }
  counting = false;
  EXPECT_EQ(failed, SIZE_MAX);
  EXPECT_EQ(counted, 0U);
}

// Handed to an engine, some of them would still be on their way when the program asks.
TEST_F(SubmissionCost, AShortCopyOnAnIdleStreamIsOverOnReturn) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(Copy(64), ACL_SUCCESS);
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    ASSERT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
    ASSERT_EQ(status, ACL_STREAM_STATUS_COMPLETE) << "copy " << i;
  }
}

TEST_F(SubmissionCost, EventsLeaveNothingBehind) {
  living = 0;
  for (int i = 0; i < 2000; ++i) {
    if (i == 1000) living = 0;
    counting = true;
    aclrtEvent event = nullptr;
    const aclError made = aclrtCreateEvent(&event);
    const aclError recorded = aclrtRecordEvent(event, nullptr);
    const aclError destroyed = aclrtDestroyEvent(event);
    counting = false;
    ASSERT_EQ(made, ACL_SUCCESS);
    ASSERT_EQ(recorded, ACL_SUCCESS);
    ASSERT_EQ(destroyed, ACL_SUCCESS);
  }
  EXPECT_LE(living, 10);
}

TEST(QueuedCopy, FitsInAKibibyte) {
  // A linear copy lives in its slot of the ring and nowhere else: see the tests above.
  EXPECT_LE(sizeof(sampan::Task), 1024U);
}

}  // namespace
