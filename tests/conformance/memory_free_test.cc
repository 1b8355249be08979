// Freeing device and pinned memory.
// Rules of docs/BEHAVIOUR.md: memory-2, memory-8.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/return_watch.h"
#include "tests/support/stream.h"

namespace sampan::test::memory_free_test {
namespace {

class Free : public DeviceTest {
 protected:
  static void* MakeDevice(std::size_t bytes = 256) {
    void* memory = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
  }
  static void* MakePinned(std::size_t bytes = 256) {
    void* memory = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtMallocHost(&memory, bytes));
    return memory;
  }
};

TEST_F(Free, OfNothingIsRefused) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtFree(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtFreeHost(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtFreeWithDevSync(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtFreeHostWithDevSync(nullptr));
}

TEST_F(Free, OfUnknownMemoryIsRefused) {
  int on_stack = 0;
  const auto on_heap = std::make_unique<int>(0);
  for (void* unknown : {static_cast<void*>(&on_stack), static_cast<void*>(on_heap.get())}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(unknown));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(unknown));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeWithDevSync(unknown));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHostWithDevSync(unknown));
  }
}

TEST_F(Free, RefusalsNameTheArgument) {
  int unknown = 0;
  const std::string address = " 0x" + Hex(&unknown);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(&unknown));
  EXPECT_TRUE(MessageHas("devPtr" + address));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeWithDevSync(&unknown));
  EXPECT_TRUE(MessageHas("devPtr" + address));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(&unknown));
  EXPECT_TRUE(MessageHas("hostPtr" + address));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHostWithDevSync(&unknown));
  EXPECT_TRUE(MessageHas("hostPtr" + address));
  EXPECT_ACL(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(&unknown));
  EXPECT_TRUE(MessageHas(" ptr" + address));
  void* const device = MakeDevice(100);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(device));
  EXPECT_TRUE(MessageHas("hostPtr 0x" + Hex(device)));
  EXPECT_TRUE(MessageHas("+100 bytes")) << "and the allocation";
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(device));
}

TEST_F(Free, TwiceIsRefused) {
  void* device = MakeDevice();
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(device));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(device));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeWithDevSync(device));
  void* pinned = MakePinned();
  EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(pinned));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHostWithDevSync(pinned));
}

TEST_F(Free, OfTheMiddleIsRefused) {
  void* device = MakeDevice();
  void* pinned = MakePinned();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(static_cast<char*>(device) + 64));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(static_cast<char*>(pinned) + 64));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(device, 256, 1, 256)) << "it is still there";
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(device));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));
}

TEST_F(Free, OfDeviceMemoryAsHostMemoryIsRefused) {
  void* device = MakeDevice();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(device));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHostWithDevSync(device));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(device));
}

TEST_F(Free, WorksFromAThreadWithoutContext) {
  void* device = MakeDevice();
  void* pinned = MakePinned();
  OnNewThread([=] {
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(device));
    EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));
  });
}

TEST_F(Free, WorksFromAnotherDevice) {
  void* device = MakeDevice();
  OnNewThread([=] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(device));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  });
}

TEST_F(Free, DoesNotWaitForCopies) {
  Stream stream;
  const PinnedBuffer kept(256);
  void* device = MakeDevice();
  void* pinned = MakePinned();
  {
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(device, 256, kept.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(pinned, 256, device, 256, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(device));
    EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));
    EXPECT_FALSE(gate.passed());
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream)) << "the copies could not run";
}

TEST_F(Free, WithDeviceSynchronisationWaits) {
  Stream stream;
  const DeviceBuffer source(256);
  source.Write(0, Bytes(256, std::byte{0x66}));
  void* device = MakeDevice();
  ReturnWatch watch(stream);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(device, 256, source.data(), 256, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreeWithDevSync(device));
  EXPECT_TRUE(watch.WorkWasOver());
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream)) << "the copy ran before";
}

TEST_F(Free, OfPinnedMemoryWithDeviceSynchronisationWaits) {
  Stream stream;
  const DeviceBuffer source(256);
  void* pinned = MakePinned();
  ReturnWatch watch(stream);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(pinned, 256, source.data(), 256, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreeHostWithDevSync(pinned));
  EXPECT_TRUE(watch.WorkWasOver());
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream)) << "the copy ran before";
}

TEST_F(Free, NeverLetsAQueuedCopyTouchTheNextOwner) {
  Stream stream;
  const DeviceBuffer source(256);
  source.Write(0, Bytes(256, std::byte{0x77}));
  void* freed = MakeDevice();
  const Bytes untouched(256, std::byte{0x11});
  std::vector<void*> successors;
  {
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(freed, 256, source.data(), 256, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(freed));
    for (int i = 0; i < 8; ++i) {
      successors.push_back(MakeDevice());
      WriteDevice(successors.back(), untouched);
    }
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  for (void* successor : successors) {
    EXPECT_EQ(ReadDevice(successor, 256), untouched);
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(successor));
  }
}

}  // namespace
}  // namespace sampan::test::memory_free_test
