// Allocating device and pinned memory: arguments, attributes, alignment, accounting, exhaustion.
// Rules of docs/BEHAVIOUR.md: memory-9.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::memory_test {
namespace {

constexpr aclrtMemMallocPolicy kDefault = ACL_MEM_MALLOC_HUGE_FIRST;
constexpr std::size_t kMiB = std::size_t{1} << 20;

struct MemoryInfo {
  std::size_t free = 0;
  std::size_t total = 0;
};

MemoryInfo GetMemInfo(aclrtMemAttr attribute = ACL_HBM_MEM) {
  MemoryInfo info;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(attribute, &info.free, &info.total)) << "attribute " << attribute;
  return info;
}

using Allocate = aclError (*)(void**, std::size_t, aclrtMemMallocPolicy);
constexpr Allocate kAllocators[] = {aclrtMalloc, aclrtMallocAlign32, aclrtMallocCached,
                                    [](void** memory, std::size_t bytes, aclrtMemMallocPolicy policy) {
                                      return aclrtMallocWithCfg(memory, bytes, policy, nullptr);
                                    }};

// ---- device memory ----

class DeviceMemory : public DeviceTest {};

TEST_F(DeviceMemory, ArgumentsAreChecked) {
  for (const Allocate allocate : kAllocators) {
    void* memory = nullptr;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, allocate(nullptr, 64, kDefault));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, allocate(&memory, 0, kDefault));
    OnNewThread([=] {
      void* none = nullptr;
      EXPECT_ACL(ACL_ERROR_INVALID_PARAM, allocate(nullptr, 64, kDefault)) << "arguments come first";
      EXPECT_ACL(ACL_ERROR_INVALID_PARAM, allocate(&none, 0, kDefault));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, allocate(&none, 64, kDefault));
    });
  }
}

TEST_F(DeviceMemory, SizeMustLeaveRoomForPadding) {
  void* memory = nullptr;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&memory, SIZE_MAX, kDefault));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&memory, SIZE_MAX - 63, kDefault));
}

TEST_F(DeviceMemory, IsAlignedAndDisjoint) {
  std::vector<std::pair<std::uintptr_t, std::size_t>> blocks;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33},
                                  std::size_t{4096}, std::size_t{100000}, 3 * kMiB + 1}) {
    for (const Allocate allocate : kAllocators) {
      void* memory = nullptr;
      ASSERT_ACL(ACL_SUCCESS, allocate(&memory, bytes, kDefault)) << bytes << " bytes";
      const auto address = reinterpret_cast<std::uintptr_t>(memory);
      EXPECT_EQ(address % 64, 0u) << bytes << " bytes";
      blocks.emplace_back(address, bytes);
    }
  }
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
    EXPECT_LE(blocks[i].first + blocks[i].second, blocks[i + 1].first);
  }
  for (const auto& block : blocks)
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(reinterpret_cast<void*>(block.first)));
}

TEST_F(DeviceMemory, HoldsWhatIsWritten) {
  for (const Allocate allocate : kAllocators) {
    void* memory = nullptr;
    ASSERT_ACL(ACL_SUCCESS, allocate(&memory, 1000, kDefault));
    const Bytes sent = Random().Fill(1000);
    WriteDevice(memory, sent);
    EXPECT_EQ(ReadDevice(memory, 1000), sent);
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  }
}

TEST_F(DeviceMemory, TakesEveryPolicy) {
  for (const int policy :
       {int{ACL_MEM_MALLOC_HUGE_FIRST}, int{ACL_MEM_MALLOC_HUGE_ONLY}, int{ACL_MEM_MALLOC_NORMAL_ONLY},
        int{ACL_MEM_MALLOC_HUGE_FIRST_P2P}, int{ACL_MEM_MALLOC_HUGE_ONLY_P2P},
        int{ACL_MEM_MALLOC_NORMAL_ONLY_P2P}, int{ACL_MEM_TYPE_LOW_BAND_WIDTH},
        int{ACL_MEM_TYPE_HIGH_BAND_WIDTH}, ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_MALLOC_NORMAL_ONLY, 99}) {
    for (const Allocate allocate : kAllocators) {
      void* memory = nullptr;
      EXPECT_ACL(ACL_SUCCESS, allocate(&memory, 64, static_cast<aclrtMemMallocPolicy>(policy)))
          << "policy " << policy;
      EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
    }
  }
}

aclError AllocateAndFree(Allocate allocate, int policy) {
  void* memory = nullptr;
  const aclError answer = allocate(&memory, 64, static_cast<aclrtMemMallocPolicy>(policy));
  if (answer == ACL_SUCCESS) {
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  }
  return answer;
}
constexpr Allocate kWithCfg = kAllocators[3];

std::uint32_t PageSize(Allocate allocate, int policy) {
  void* memory = nullptr;
  EXPECT_ACL(ACL_SUCCESS, allocate(&memory, 64, static_cast<aclrtMemMallocPolicy>(policy)));
  aclrtPtrAttributes attributes = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(memory, &attributes));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  return attributes.pageSize;
}

TEST_F(DeviceMemory, GiantPagesAreOfOtherChips) {
  for (const Allocate allocate : kAllocators) {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, AllocateAndFree(allocate, ACL_MEM_MALLOC_HUGE1G_ONLY));
    EXPECT_TRUE(MessageHas("policy 6"));
    EXPECT_ACL(allocate == aclrtMallocCached ? ACL_SUCCESS : ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               AllocateAndFree(allocate, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P));
  }
}

TEST_F(DeviceMemory, CachedTakesPoliciesForPeersAsTheDefault) {
  const std::uint32_t by_size = PageSize(aclrtMalloc, kDefault);
  const std::uint32_t huge = PageSize(aclrtMalloc, ACL_MEM_MALLOC_HUGE_ONLY_P2P);
  if (huge == by_size) GTEST_SKIP() << "this device has pages of one size";
  EXPECT_EQ(PageSize(aclrtMallocCached, ACL_MEM_MALLOC_HUGE_ONLY_P2P), by_size);
  EXPECT_EQ(PageSize(aclrtMallocCached, ACL_MEM_MALLOC_HUGE_ONLY), huge);
}

TEST_F(DeviceMemory, BitsBesidesThePolicyAreForTheCallWithAConfiguration) {
  for (const int bits : {int{ACL_MEM_TYPE_LOW_BAND_WIDTH}, int{ACL_MEM_TYPE_HIGH_BAND_WIDTH},
                         int{ACL_MEM_ACCESS_USER_SPACE_READONLY}}) {
    const int giant = bits | ACL_MEM_MALLOC_HUGE1G_ONLY, huge = bits | ACL_MEM_MALLOC_HUGE_ONLY;
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, AllocateAndFree(kWithCfg, giant));
    EXPECT_EQ(PageSize(kWithCfg, huge), PageSize(kWithCfg, ACL_MEM_MALLOC_HUGE_ONLY));
    for (const Allocate allocate : {aclrtMalloc, aclrtMallocAlign32, aclrtMallocCached}) {
      EXPECT_ACL(ACL_SUCCESS, AllocateAndFree(allocate, giant)) << "an unknown value means the default";
      EXPECT_EQ(PageSize(allocate, huge), PageSize(allocate, kDefault));
    }
  }
  EXPECT_ACL(ACL_SUCCESS, AllocateAndFree(kWithCfg, 0x200 | ACL_MEM_MALLOC_HUGE1G_ONLY)) << "no known bit";
}

TEST_F(DeviceMemory, CachedCanBeFlushedAndInvalidated) {
  void* memory = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMallocCached(&memory, 4096, kDefault));
  const aclError flushed = aclrtMemFlush(memory, 4096);
  const aclError invalidated = aclrtMemInvalidate(memory, 4096);
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  if (flushed == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) GTEST_SKIP() << "this runtime has no cache calls";
  EXPECT_ACL(ACL_SUCCESS, flushed);
  EXPECT_ACL(ACL_SUCCESS, invalidated);
}

TEST_F(DeviceMemory, BelongsToTheCurrentDevice) {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  const std::size_t before = GetMemInfo().free;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const DeviceBuffer buffer(8 * kMiB);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  EXPECT_EQ(GetMemInfo().free, before) << "device 1 has its own memory";
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

// ---- attributes ----

aclrtMallocAttribute Attribute(int key, std::uint32_t value) {
  aclrtMallocAttribute attribute = {};
  attribute.attr = static_cast<aclrtMallocAttrType>(key);
  attribute.value.deviceId = value;
  return attribute;
}

class MemoryAttributes : public DeviceTest {
 protected:
  static aclError AllocateDevice(std::vector<aclrtMallocAttribute> attributes) {
    aclrtMallocConfig config = {attributes.data(), attributes.size()};
    void* memory = nullptr;
    const aclError answer = aclrtMallocWithCfg(&memory, 64, kDefault, &config);
    if (answer == ACL_SUCCESS) {
      EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
    }
    return answer;
  }
  static aclError AllocateHost(std::vector<aclrtMallocAttribute> attributes) {
    aclrtMallocConfig config = {attributes.data(), attributes.size()};
    void* memory = nullptr;
    const aclError answer = aclrtMallocHostWithCfg(&memory, 64, &config);
    if (answer == ACL_SUCCESS) {
      std::memset(memory, 1, 64);
      EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(memory));
    }
    return answer;
  }
};

TEST_F(MemoryAttributes, OfDeviceMemory) {
  EXPECT_ACL(ACL_SUCCESS, AllocateDevice({Attribute(ACL_RT_MEM_ATTR_MODULE_ID, 33)}));
  EXPECT_ACL(ACL_SUCCESS, AllocateDevice({Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 0)}));
  EXPECT_ACL(ACL_SUCCESS, AllocateDevice({Attribute(ACL_RT_MEM_ATTR_MODULE_ID, 33),
                                          Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 0)}));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, AllocateDevice({Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 1)}))
      << "another device than the current one";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, AllocateDevice({Attribute(ACL_RT_MEM_ATTR_VA_FLAG, 1)}));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, AllocateDevice({Attribute(3 + 1, 0)})) << "unknown";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, AllocateDevice({Attribute(INT_MIN, 0)}))
      << "unknown, the sign bit set";
}

TEST_F(MemoryAttributes, OfDeviceMemoryNeedTheirArray) {
  void* memory = nullptr;
  aclrtMallocConfig config = {nullptr, 1};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocWithCfg(&memory, 64, kDefault, &config));
  config.numAttrs = 0;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMallocWithCfg(&memory, 64, kDefault, &config))
      << "without attributes, pass no configuration";
}

TEST_F(MemoryAttributes, OfPinnedMemory) {
  EXPECT_ACL(ACL_SUCCESS, AllocateHost({Attribute(ACL_RT_MEM_ATTR_MODULE_ID, 33)}));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, AllocateHost({Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 0)}));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, AllocateHost({Attribute(ACL_RT_MEM_ATTR_RSV, 0)}));
  const aclError with_va_flag = AllocateHost({Attribute(ACL_RT_MEM_ATTR_VA_FLAG, 1)});
  EXPECT_TRUE(with_va_flag == ACL_SUCCESS || with_va_flag == ACL_ERROR_RT_FEATURE_NOT_SUPPORT)
      << with_va_flag;
}

// ---- pinned memory ----

class PinnedMemory : public DeviceTest {};

TEST_F(PinnedMemory, ArgumentsAreChecked) {
  void* memory = nullptr;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocHost(nullptr, 64));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocHost(&memory, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocHostWithCfg(nullptr, 64, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocHostWithCfg(&memory, 0, nullptr));
  OnNewThread([] {
    void* none = nullptr;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMallocHost(&none, 64));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMallocHostWithCfg(&none, 64, nullptr));
  });
}

TEST_F(PinnedMemory, IsOrdinaryMemoryForTheHost) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4097}, 2 * kMiB}) {
    void* memory = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtMallocHost(&memory, bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
    auto* const text = static_cast<unsigned char*>(memory);
    std::memset(text, 0xC3, bytes);
    EXPECT_EQ(text[0], 0xC3);
    EXPECT_EQ(text[bytes - 1], 0xC3);
    EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(memory));
  }
}

TEST_F(PinnedMemory, DoesNotCountAgainstTheDevice) {
  const std::size_t before = GetMemInfo().free;
  const PinnedBuffer buffer(4 * kMiB);
  EXPECT_EQ(GetMemInfo().free, before);
}

// ---- accounting ----

class MemoryAccounting : public DeviceTest {};

TEST_F(MemoryAccounting, ArgumentsAreChecked) {
  std::size_t free = 0, total = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &total));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo(ACL_HBM_MEM, &free, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_MEMORY_TYPE, aclrtGetMemInfo(static_cast<aclrtMemAttr>(18), &free, &total));
  OnNewThread([] {
    std::size_t none = 0;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetMemInfo(ACL_HBM_MEM, &none, &none));
  });
}

TEST_F(MemoryAccounting, EveryAttributeHasAnAnswer) {
  for (int attribute = ACL_DDR_MEM; attribute <= ACL_MEM_P2P_HUGE1G; ++attribute) {
    const MemoryInfo info = GetMemInfo(static_cast<aclrtMemAttr>(attribute));
    EXPECT_LE(info.free, info.total) << "attribute " << attribute;
  }
}

TEST_F(MemoryAccounting, FollowsAllocationsAndFrees) {
  const MemoryInfo before = GetMemInfo();
  EXPECT_GT(before.total, 0u);
  {
    const DeviceBuffer first(8 * kMiB);
    const MemoryInfo with_first = GetMemInfo();
    EXPECT_LE(with_first.free, before.free - 8 * kMiB);
    EXPECT_EQ(with_first.total, before.total);
    const DeviceBuffer second(kMiB);
    EXPECT_LE(GetMemInfo().free, with_first.free - kMiB);
  }
  EXPECT_EQ(GetMemInfo().free, before.free);
}

TEST_F(MemoryAccounting, ManySmallBlocksComeBack) {
  const std::size_t before = GetMemInfo().free;
  std::vector<void*> blocks(2000);
  for (void*& block : blocks)
    ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&block, 100, kDefault));
  EXPECT_LE(GetMemInfo().free, before - blocks.size() * 100);
  for (void* block : blocks)
    ASSERT_ACL(ACL_SUCCESS, aclrtFree(block));
  EXPECT_EQ(GetMemInfo().free, before);
}

TEST(MemoryExhaustion, IsAnErrorThatPasses) {
  if (DoneInChild({{"SAMPAN_DEVICE_MEMORY", "64M"}})) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const MemoryInfo before = GetMemInfo();
  EXPECT_EQ(before.total, 64 * kMiB);
  for (int round = 0; round < 2; ++round) {
    std::vector<void*> blocks;
    void* memory = nullptr;
    aclError answer = ACL_SUCCESS;
    while (blocks.size() <= 64 && (answer = aclrtMalloc(&memory, kMiB, kDefault)) == ACL_SUCCESS) {
      blocks.push_back(memory);
    }
    EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, answer);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT_GE(blocks.size(), 32u);
    EXPECT_LT(GetMemInfo().free, before.free / 2);
    ASSERT_FALSE(blocks.empty());
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(blocks.back()));
    EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&blocks.back(), kMiB, kDefault)) << "one block was given back";
    EXPECT_ACL(ACL_SUCCESS, aclrtMemset(blocks.back(), kMiB, 1, kMiB));
    for (void* block : blocks)
      EXPECT_ACL(ACL_SUCCESS, aclrtFree(block));
    EXPECT_EQ(GetMemInfo().free, before.free);
  }
}

TEST(MemoryExhaustion, SaysWhatWasAskedFor) {
  if (DoneInChild({{"SAMPAN_DEVICE_MEMORY", "64M"}})) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  void* memory = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&memory, 128 * kMiB, kDefault));
  EXPECT_TRUE(MessageHas("134217728"));
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, kMiB, kDefault));
}

}  // namespace
}  // namespace sampan::test::memory_test
