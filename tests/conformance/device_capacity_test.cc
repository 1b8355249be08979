// Capacity of emulated devices: the chip's, taken from the host page by page, and bounded. Rules memory-1,
// memory-10 to memory-12, profile-5, callback-4.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/device_fixture.h"
#include "tests/support/random_bytes.h"
#include "tests/support/stream.h"

namespace sampan::test::device_capacity_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20, kGiB = std::size_t{1} << 30;
const Variables kChipsCapacity = {{"SAMPAN_DEVICE_MEMORY", std::nullopt}, {"SAMPAN_PROFILE", std::nullopt}};

Variables With(std::vector<std::pair<std::string, std::optional<std::string>>> more) {
  Variables all = kChipsCapacity;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::size_t FreeBytes() {
  std::size_t free = 0, total = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return free;
}

/// All memory of this machine, or another figure of it.
std::size_t HostBytes(std::string_view figure = "MemTotal:") {
  std::ifstream file("/proc/meminfo");
  std::string name, rest;
  for (std::size_t kibibytes = 0; file >> name >> kibibytes && std::getline(file, rest);) {
    if (name == figure) return kibibytes * 1024;
  }
  return 0;
}

TEST(EmulatedCapacity, IsThatOfTheChipOnEveryDevice) {
  if (DoneInChild(kChipsCapacity)) return;
  for (const std::int32_t device : {0, 1}) {
    std::size_t free = 0, total = 0;
    std::int64_t attribute = 0;
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(device));
    ASSERT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    EXPECT_EQ(total, 64 * kGiB);
    EXPECT_EQ(free, 64 * kGiB);
    ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceInfo(static_cast<std::uint32_t>(device),
                                               ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &attribute));
    EXPECT_EQ(attribute, static_cast<std::int64_t>(64 * kGiB));
  }
}

/// What a framework takes at its start, on a machine that has less to spare: pages are taken when they are
/// written.
TEST(EmulatedCapacity, IsPromisedBeyondWhatTheHostMaySpare) {
  if (DoneInChild(With({{"SAMPAN_HOST_MEMORY", "256M"}}))) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const std::size_t bytes = std::min(8 * kGiB, HostBytes() / 4 * 3);
  void* block = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_GE(64 * kGiB - FreeBytes(), bytes);
  Random random;
  const Bytes sent = random.Fill(kMiB);
  auto* const device = static_cast<std::byte*>(block);
  for (const std::size_t at : {std::size_t{0}, bytes / 2, bytes - kMiB}) {
    Bytes back(kMiB);
    ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(device + at, kMiB, sent.data(), kMiB, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(back.data(), kMiB, device + at, kMiB, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(back, sent) << at;
  }
  ASSERT_ACL(ACL_SUCCESS, aclrtFree(block));
  EXPECT_EQ(FreeBytes(), 64 * kGiB);
}

/// All of what a framework takes is really there. Only on a machine that has it to spare.
TEST(EmulatedCapacity, EightGibibytesOfOneDeviceAreWrittenAndRead) {
  constexpr std::size_t kBytes = 8 * kGiB, kChunk = 64 * kMiB, kNeeded = 18 * kGiB;
  if (std::getenv("TEST_LARGE_MEMORY") == nullptr) GTEST_SKIP() << "only if TEST_LARGE_MEMORY is set";
  if (HostBytes("MemAvailable:") < kNeeded) GTEST_SKIP() << "the host has less than 18 GiB available";
  if (DoneInChild(With({{"SAMPAN_HOST_MEMORY", "9G"}}))) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  void* block = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  auto* const device = static_cast<std::byte*>(block);
  Random random;
  const Bytes pattern = random.Fill(kChunk + kBytes / kChunk);
  // Each chunk is the pattern from another byte on.
  for (std::size_t i = 0; i < kBytes / kChunk; ++i)
    ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(device + i * kChunk, kChunk, pattern.data() + i, kChunk,
                                        ACL_MEMCPY_HOST_TO_DEVICE));
  Bytes back(kChunk);
  for (std::size_t i = 0; i < kBytes / kChunk; ++i) {
    ASSERT_ACL(ACL_SUCCESS,
               aclrtMemcpy(back.data(), kChunk, device + i * kChunk, kChunk, ACL_MEMCPY_DEVICE_TO_HOST));
    ASSERT_EQ(std::memcmp(back.data(), pattern.data() + i, kChunk), 0) << i;
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(block));
  EXPECT_EQ(FreeBytes(), 64 * kGiB);
}

/// memory-11
TEST(EmulatedCapacity, IsBoundedWhenPagesAreWritten) {
  if (DoneInChild(With({{"SAMPAN_HOST_MEMORY", "32M"}}))) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Stream stream;
  void* block = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&block, 256 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST));
  auto* const device = static_cast<std::byte*>(block);
  for (int round = 0; round < 3; ++round)  // pages that are taken already can be written again
    ASSERT_ACL(ACL_SUCCESS, aclrtMemset(device, 30 * kMiB, 0x5A + round, 30 * kMiB)) << round;

  // Every kind of task is bounded, also those that run later.
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMemset(device + 64 * kMiB, 8 * kMiB, 1, 8 * kMiB));
  EXPECT_TRUE(MessageHas("SAMPAN_HOST_MEMORY"));
  ASSERT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device + 64 * kMiB, 8 * kMiB, device, 8 * kMiB,
                                           ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtSynchronizeStream(stream));
  std::vector<std::byte> host(8 * kMiB);
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMemcpy2d(device + 64 * kMiB, kMiB, host.data(), 64 * 1024,
                                                           64 * 1024, 128, ACL_MEMCPY_HOST_TO_DEVICE));
  ASSERT_ACL(ACL_SUCCESS, aclrtReduceAsync(device + 64 * kMiB, device, 8 * kMiB,
                                           ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtSynchronizeStream(stream));
  for (std::size_t word = 0; word < 4 * kMiB; word += 4096) {  // a page each
    if (aclrtValueWrite(device + 96 * kMiB + word, 1, 0, stream) != ACL_SUCCESS) break;
  }
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpy(host.data(), 8 * kMiB, device + 64 * kMiB, 8 * kMiB, ACL_MEMCPY_DEVICE_TO_HOST))
      << "reading takes nothing";
  std::byte first{};
  ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(&first, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(first, std::byte{0x5C}) << "what was written before stays";

  // Freed pages can be taken again, and nothing is counted while no more is promised than there is.
  ASSERT_ACL(ACL_SUCCESS, aclrtFree(block));
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&block, 30 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(block, 30 * kMiB, 7, 30 * kMiB));
  void* more = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&more, 30 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMemset(more, 30 * kMiB, 7, 30 * kMiB))
      << "what was written before counting began counts";
}

TEST(EmulatedCapacity, BoundsAllDevicesTogether) {
  if (DoneInChild(With({{"SAMPAN_HOST_MEMORY", "32M"}}))) return;
  void* blocks[2] = {};
  for (const std::int32_t device : {0, 1}) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(device));
    ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&blocks[device], 24 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  ASSERT_ACL(ACL_SUCCESS, aclrtMemset(blocks[1], 24 * kMiB, 1, 24 * kMiB));
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMemset(blocks[0], 24 * kMiB, 1, 24 * kMiB));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(blocks[0], 4 * kMiB, 1, 4 * kMiB));
}

TEST(EmulatedCapacity, RefusesWhatTheHostCouldNeverHold) {
  const std::size_t device_gib = 2 * HostBytes() / kGiB + 2;
  if (DoneInChild(With({{"SAMPAN_DEVICE_MEMORY", std::to_string(device_gib) + "G"}}))) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  void* block = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION,
             aclrtMalloc(&block, HostBytes() + kGiB, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_TRUE(MessageHas("all memory of the host"));
  EXPECT_EQ(FreeBytes(), device_gib * kGiB);
}

// ---- limits that only hardware has ----

TEST(RealLimits, AlignmentOfRegisteredMemoryHasTheDriversCode) {
  if (InChild()) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    void* const pages = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    void* device = nullptr;
    void* const odd = static_cast<std::byte*>(pages) + 64;
    const bool real = std::string(std::getenv("SAMPAN_PROFILE")).find("real-limits") != std::string::npos;
    EXPECT_ACL(real ? ACL_ERROR_RT_DRV_INTERNAL_ERROR : ACL_ERROR_RT_PARAM_INVALID,
               aclrtHostRegister(odd, 4096, ACL_HOST_REGISTER_MAPPED, &device));
    EXPECT_ACL(ACL_SUCCESS, aclrtHostRegister(pages, 4096, ACL_HOST_REGISTER_MAPPED, &device));
    EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages));
    return;
  }
  for (const char* profile : {"ascend910b,real-limits", "real-limits,cann9", "cann8"}) {
    const ChildResult child = RunInChild({{"SAMPAN_PROFILE", profile}});
    EXPECT_TRUE(child.Passed()) << profile << "\n" << child;
  }
}

TEST(RealLimits, PinnedMemoryEndsAt200Gigabytes) {
  if (InChild()) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    void* pinned = nullptr;
    EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocHost(&pinned, 200 * kGiB + 1));
    const bool real = std::string(std::getenv("SAMPAN_PROFILE")).find("real-limits") != std::string::npos;
    EXPECT_EQ(static_cast<bool>(MessageHas("real-limits")), real);
    EXPECT_ACL(ACL_SUCCESS, aclrtMallocHost(&pinned, kMiB));
    EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));
    return;
  }
  for (const char* profile : {"real-limits", "cann8"}) {
    const ChildResult child = RunInChild({{"SAMPAN_PROFILE", profile}});
    EXPECT_TRUE(child.Passed()) << profile << "\n" << child;
  }
}

TEST(RealLimits, AttributesOfForeignMemoryDependOnTheRelease) {
  if (InChild()) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    const std::string profile(std::getenv("SAMPAN_PROFILE"));
    const bool refused =
        profile.find("real-limits") != std::string::npos && profile.find("cann9") == std::string::npos;
    std::vector<std::byte> plain(64);
    aclrtPtrAttributes attributes{};
    EXPECT_ACL(refused ? ACL_ERROR_RT_DRV_INTERNAL_ERROR : ACL_SUCCESS,
               aclrtPointerGetAttributes(plain.data(), &attributes));
    if (!refused) {
      EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    }
    void* pinned = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtMallocHost(&pinned, kMiB));
    EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(pinned, &attributes)) << "its own memory is described";
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));
    return;
  }
  for (const char* profile : {"real-limits", "cann9,real-limits", "cann8"}) {
    const ChildResult child = RunInChild({{"SAMPAN_PROFILE", profile}});
    EXPECT_TRUE(child.Passed()) << profile << "\n" << child;
  }
}

// ---- timeouts that programs expect ----

TEST(ProcessReportTimeouts, AreNoErrorsInTheLog) {
  if (InChild()) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_ACL(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(1));
    Stream stream;
    ASSERT_ACL(ACL_SUCCESS, aclrtSubscribeReport(static_cast<std::uint64_t>(::pthread_self()), stream));
    EXPECT_ACL(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(1));
    EXPECT_TRUE(MessageHas("time limit of 1 ms")) << "the message is there all the same";
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtProcessReport(0));
    ASSERT_ACL(ACL_SUCCESS, aclrtUnSubscribeReport(static_cast<std::uint64_t>(::pthread_self()), stream));
    return;
  }
  const ChildResult quiet = RunInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "3"}});
  EXPECT_TRUE(quiet.Passed()) << quiet;
  EXPECT_EQ(quiet.errors.find("107012"), std::string::npos) << quiet;
  EXPECT_EQ(quiet.errors.find("507012"), std::string::npos) << quiet;
  EXPECT_NE(quiet.errors.find("[ERROR]"), std::string::npos) << "a wrong argument is an error\n" << quiet;
  const ChildResult verbose = RunInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "1"}});
  EXPECT_NE(verbose.errors.find("507012"), std::string::npos) << verbose;
}

}  // namespace
}  // namespace sampan::test::device_capacity_test
