// What allocators rely on: memory figures, provoked exhaustion, policies, alignment, huge pages.
// Rules of docs/BEHAVIOUR.md: client-7, client-8, client-9.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::client_memory_test {
namespace {

class ClientMemory : public CopyTest {
 protected:
  static std::size_t FreeBytes() {
    aclrtRunMode mode = ACL_HOST;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetRunMode(&mode));
    std::size_t free_bytes = 0, total_bytes = 0;
    // The chip of the RC form has no HBM.
    EXPECT_ACL(ACL_SUCCESS,
               aclrtGetMemInfo(mode == ACL_HOST ? ACL_HBM_MEM : ACL_DDR_MEM, &free_bytes, &total_bytes));
    EXPECT_LE(free_bytes, total_bytes);
    return free_bytes;
  }
};

TEST_F(ClientMemory, FreeBytesGoDownWithEachAllocationThenUpAgain) {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  const std::size_t before = FreeBytes();
  std::size_t last = before;
  std::vector<DeviceBuffer> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.emplace_back(kBytes);
    const std::size_t now = FreeBytes();
    EXPECT_LE(now + kBytes, last);
    last = now;
  }
  while (!blocks.empty()) {
    blocks.pop_back();
    const std::size_t now = FreeBytes();
    EXPECT_GE(now, last + kBytes);
    last = now;
  }
  EXPECT_EQ(last, before);
}

TEST_F(ClientMemory, ProvokedExhaustionIsSurvived) {
  const std::size_t before = FreeBytes();
  // No larger than what a small host could hold.
  const std::size_t piece = std::min(before / 4, std::size_t{2} << 30);
  std::vector<void*> pieces;
  aclError code = ACL_SUCCESS;
  for (std::size_t i = 0; i < 2 * before / piece; ++i) {
    void* memory = nullptr;
    code = aclrtMalloc(&memory, piece, ACL_MEM_MALLOC_HUGE_FIRST);
    if (code != ACL_SUCCESS) break;
    pieces.push_back(memory);
  }
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, code);
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, TakeLastError());
  EXPECT_GE(pieces.size(), 3U);
  // What there is stays usable, and so does the device.
  ASSERT_FALSE(pieces.empty());
  const Bytes contents = random().Fill(4096);
  WriteDevice(pieces.front(), contents);
  EXPECT_TRUE(SameBytes(contents, ReadDevice(pieces.front(), 4096)));
  for (void* const memory : pieces)
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  EXPECT_EQ(FreeBytes(), before);
  void* again = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&again, piece, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(again));
}

TEST_F(ClientMemory, MoreThanThereIsInOnePiece) {
  void* memory = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION,
             aclrtMalloc(&memory, FreeBytes() + (std::size_t{1} << 30), ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION,
             aclrtMalloc(&memory, std::size_t{1} << 60, ACL_MEM_MALLOC_NORMAL_ONLY));
}

TEST_F(ClientMemory, BandwidthBitsServeAsPolicy) {
  for (const int policy : {ACL_MEM_TYPE_LOW_BAND_WIDTH, ACL_MEM_TYPE_HIGH_BAND_WIDTH}) {
    void* memory = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, 10'000, static_cast<aclrtMemMallocPolicy>(policy)));
    const Bytes contents = random().Fill(10'000);
    WriteDevice(memory, contents);
    EXPECT_TRUE(SameBytes(contents, ReadDevice(memory, 10'000)));
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  }
}

TEST_F(ClientMemory, PinnedMemoryIsAlignedTo64Bytes) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{33}, std::size_t{100}, std::size_t{5000}}) {
    PinnedBuffer first(bytes), second(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data()) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second.data()) % 64, 0U);
  }
}

TEST_F(ClientMemory, HugePageRegionCanBeRegistered) {
  constexpr std::size_t kHuge = std::size_t{2} << 20, kBytes = 2 * kHuge;
  void* const reserved =
      mmap(nullptr, kBytes + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(reserved, MAP_FAILED);
  const auto address = (reinterpret_cast<std::uintptr_t>(reserved) + kHuge - 1) / kHuge * kHuge;
  auto* const region = reinterpret_cast<std::byte*>(address);
  madvise(region, kBytes, MADV_HUGEPAGE);  // where the machine has them
  void* seen_by_device = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtHostRegister(region, kBytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  EXPECT_NE(seen_by_device, nullptr);
  DeviceBuffer device(kBytes);
  const Bytes contents = random().Fill(kBytes);
  std::copy(contents.begin(), contents.end(), region);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(device.data(), kBytes, region, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  Synchronize();
  std::fill_n(region, kBytes, std::byte{0});
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(region, kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  Synchronize();
  EXPECT_TRUE(SameBytes(contents, {region, kBytes}));
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(region));
  munmap(reserved, kBytes + kHuge);
}

TEST_F(ClientMemory, PlainMemoryIsUnregistered) {
  PageableBuffer plain(64);
  aclrtPtrAttributes attributes = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(plain.data(), &attributes));
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
}

}  // namespace
}  // namespace sampan::test::client_memory_test
