// aclrtPointerGetAttributes for every kind of memory.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::pointer_attributes_test {
namespace {

constexpr std::uint32_t kNormalPage = 4096;
constexpr std::uint32_t kHugePage = 2u << 20;

aclrtPtrAttributes Attributes(const void* pointer) {
  aclrtPtrAttributes attributes = {};
  attributes.location.type = ACL_MEM_LOCATION_TYPE_MANAGED;
  attributes.location.id = 4711;
  EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(pointer, &attributes));
  return attributes;
}

void ExpectLocation(const void* pointer, aclrtMemLocationType type, std::uint32_t id) {
  const aclrtPtrAttributes attributes = Attributes(pointer);
  EXPECT_EQ(attributes.location.type, type);
  EXPECT_EQ(attributes.location.id, id);
}

class PointerAttributes : public DeviceTest {};

TEST_F(PointerAttributes, ArgumentsAreNeeded) {
  aclrtPtrAttributes attributes = {};
  int on_stack = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtPointerGetAttributes(nullptr, &attributes));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtPointerGetAttributes(&on_stack, nullptr));
}

TEST_F(PointerAttributes, OfDeviceMemory) {
  const DeviceBuffer buffer(1000);
  ExpectLocation(buffer.data(), ACL_MEM_LOCATION_TYPE_DEVICE, 0);
  ExpectLocation(buffer.at(1), ACL_MEM_LOCATION_TYPE_DEVICE, 0);
  ExpectLocation(buffer.at(999), ACL_MEM_LOCATION_TYPE_DEVICE, 0);
}

TEST_F(PointerAttributes, OfEveryDeviceAllocator) {
  void* memory[3] = {};
  ASSERT_ACL(ACL_SUCCESS, aclrtMallocAlign32(&memory[0], 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_ACL(ACL_SUCCESS, aclrtMallocCached(&memory[1], 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_ACL(ACL_SUCCESS, aclrtMallocWithCfg(&memory[2], 64, ACL_MEM_MALLOC_HUGE_FIRST, nullptr));
  for (void* one : memory) {
    ExpectLocation(one, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(one));
  }
}

TEST_F(PointerAttributes, NameTheDevice) {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  DeviceBuffer buffer(64);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  ExpectLocation(buffer.data(), ACL_MEM_LOCATION_TYPE_DEVICE, 1);
  buffer.Free();
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
}

TEST_F(PointerAttributes, OfPinnedMemory) {
  const PinnedBuffer buffer(1000);
  ExpectLocation(buffer.data(), ACL_MEM_LOCATION_TYPE_HOST, 0);
  ExpectLocation(buffer.at(999), ACL_MEM_LOCATION_TYPE_HOST, 0);
}

TEST_F(PointerAttributes, OfPinnedMemoryMadeOnAnotherDevice) {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  const PinnedBuffer buffer(64);
  ExpectLocation(buffer.data(), ACL_MEM_LOCATION_TYPE_HOST, 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
}

TEST_F(PointerAttributes, OfRegisteredMemory) {
  Buffer buffer(Place::kRegistered, 8192);
  ExpectLocation(buffer.data(), ACL_MEM_LOCATION_TYPE_HOST, 0);
  ExpectLocation(buffer.at(8191), ACL_MEM_LOCATION_TYPE_HOST, 0);
}

TEST_F(PointerAttributes, OfMemoryThatIsNoLongerRegistered) {
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  void* device = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtHostRegister(memory, 4096, ACL_HOST_REGISTER_MAPPED, &device));
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(memory));
  EXPECT_EQ(Attributes(memory).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  munmap(memory, 4096);
}

TEST_F(PointerAttributes, OfPlainHostMemory) {
  int on_stack = 0;
  static int in_the_program = 0;
  const auto on_heap = std::make_unique<char[]>(100000);
  void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  for (const void* pointer : {static_cast<const void*>(&on_stack), static_cast<const void*>(&in_the_program),
                              static_cast<const void*>(on_heap.get()), static_cast<const void*>(mapped)}) {
    EXPECT_EQ(Attributes(pointer).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  }
  munmap(mapped, 4096);
}

TEST_F(PointerAttributes, NeedNoContext) {
  const DeviceBuffer device(64);
  const PinnedBuffer pinned(64);
  OnNewThread([&] {
    int on_stack = 0;
    ExpectLocation(device.data(), ACL_MEM_LOCATION_TYPE_DEVICE, 0);
    ExpectLocation(pinned.data(), ACL_MEM_LOCATION_TYPE_HOST, 0);
    EXPECT_EQ(Attributes(&on_stack).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  });
}

TEST_F(PointerAttributes, PageSizeFollowsPolicyAndSize) {
  const struct {
    aclrtMemMallocPolicy policy;
    std::size_t bytes;
    std::uint32_t page;
  } cases[] = {{ACL_MEM_MALLOC_NORMAL_ONLY, 4u << 20, kNormalPage},
               {ACL_MEM_MALLOC_HUGE_FIRST, 64, kNormalPage},
               {ACL_MEM_MALLOC_HUGE_FIRST, 4u << 20, kHugePage},
               {ACL_MEM_MALLOC_HUGE_ONLY, 4u << 20, kHugePage}};
  for (const auto& [policy, bytes, page] : cases) {
    void* memory = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, bytes, policy));
    EXPECT_EQ(Attributes(memory).pageSize, page) << "policy " << policy << ", " << bytes << " bytes";
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  }
}

TEST_F(PointerAttributes, OfMappedVirtualMemory) {
  void* address = nullptr;
  const aclError answer = aclrtReserveMemAddress(&address, kHugePage, 0, nullptr, 1);
  if (answer == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) GTEST_SKIP() << "this runtime has no virtual memory calls";
  ASSERT_ACL(ACL_SUCCESS, answer);
  aclrtPhysicalMemProp properties = {};
  properties.memAttr = ACL_HBM_MEM_HUGE;
  properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle physical = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMallocPhysical(&physical, kHugePage, &properties, 0));
  ASSERT_ACL(ACL_SUCCESS, aclrtMapMem(address, kHugePage, 0, physical, 0));
  ExpectLocation(address, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtUnmapMem(address));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(physical));
  EXPECT_ACL(ACL_SUCCESS, aclrtReleaseMemAddress(address));
}

TEST_F(PointerAttributes, OfPoolMemory) {
  aclrtMemPoolProps properties = {};
  properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtMemPool pool = nullptr;
  const aclError answer = aclrtMemPoolCreate(&pool, &properties);
  if (answer == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) GTEST_SKIP() << "this runtime has no memory pools";
  ASSERT_ACL(ACL_SUCCESS, answer);
  Stream stream;
  void* memory = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMemPoolMallocAsync(&memory, 64, pool, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  ExpectLocation(memory, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolDestroy(pool));
}

}  // namespace
}  // namespace sampan::test::pointer_attributes_test
