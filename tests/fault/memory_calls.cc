// Allocation, registration and fills under failing memory.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/fault/api_call.h"

namespace sampan::fault {
namespace {

constexpr aclrtMemMallocPolicy kPolicy = ACL_MEM_MALLOC_HUGE_FIRST;

bool DeviceUsable(World& w) {
  w.Fill(w.results.pointer, 0x31);
  return w.Holds(w.results.pointer, 0x31);
}
bool HostUsable(World& w) {
  std::memset(w.results.pointer, 0x32, kBytes);
  return aclrtMemcpy(w.device_a, kBytes, w.results.pointer, kBytes, ACL_MEMCPY_HOST_TO_DEVICE) ==
             ACL_SUCCESS &&
         w.Holds(w.device_a, 0x32);
}
void FreeDevice(World& w) {
  EXPECT_EQ(aclrtFree(w.results.pointer), ACL_SUCCESS);
}
void FreePinned(World& w) {
  EXPECT_EQ(aclrtFreeHost(w.results.pointer), ACL_SUCCESS);
}
void NewDevice(World& w) {
  EXPECT_EQ(aclrtMalloc(&w.results.pointer, kBytes, kPolicy), ACL_SUCCESS);
}
void NewPinned(World& w) {
  EXPECT_EQ(aclrtMallocHost(&w.results.pointer, kBytes), ACL_SUCCESS);
}
void ZeroDeviceA(World& w) {
  w.Fill(w.device_a, 0);
}
void Register(World& w) {
  EXPECT_EQ(aclrtHostRegister(w.pages, kBytes, ACL_HOST_REGISTER_MAPPED, &w.results.pointer), ACL_SUCCESS);
}
void Unregister(World& w) {
  EXPECT_EQ(aclrtHostUnregister(w.pages), ACL_SUCCESS);
}
bool IsRegistered(World& w) {
  aclrtPtrAttributes attributes = {};
  return aclrtPointerGetAttributes(w.pages, &attributes) == ACL_SUCCESS &&
         attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST;
}
bool Untouched(World& w) {
  return !w.Drained() || !w.Holds(w.device_a, 0);
}

}  // namespace

std::vector<ApiCall> MemoryCalls() {
  return {
      {.name = "aclrtMalloc",
       .call = [](World& w) { return aclrtMalloc(&w.results.pointer, kBytes, kPolicy); },
       .right = DeviceUsable,
       .claims = PointerReturned,
       .undo = FreeDevice},
      {.name = "aclrtMallocAlign32",
       .call = [](World& w) { return aclrtMallocAlign32(&w.results.pointer, kBytes, kPolicy); },
       .right = DeviceUsable,
       .claims = PointerReturned,
       .undo = FreeDevice},
      {.name = "aclrtMallocCached",
       .call = [](World& w) { return aclrtMallocCached(&w.results.pointer, kBytes, kPolicy); },
       .right = DeviceUsable,
       .claims = PointerReturned,
       .undo = FreeDevice},
      {.name = "aclrtMallocWithCfg",
       .call = [](World& w) { return aclrtMallocWithCfg(&w.results.pointer, kBytes, kPolicy, nullptr); },
       .right = DeviceUsable,
       .claims = PointerReturned,
       .undo = FreeDevice},
      {.name = "aclrtMallocHost",
       .call = [](World& w) { return aclrtMallocHost(&w.results.pointer, kBytes); },
       .right = HostUsable,
       .claims = PointerReturned,
       .undo = FreePinned},
      {.name = "aclrtMallocHostWithCfg",
       .call = [](World& w) { return aclrtMallocHostWithCfg(&w.results.pointer, kBytes, nullptr); },
       .right = HostUsable,
       .claims = PointerReturned,
       .undo = FreePinned},
      {.name = "aclrtFree",
       .call = [](World& w) { return aclrtFree(w.results.pointer); },
       .prepare = NewDevice},
      {.name = "aclrtFreeWithDevSync",
       .call = [](World& w) { return aclrtFreeWithDevSync(w.results.pointer); },
       .prepare = NewDevice},
      {.name = "aclrtFreeHost",
       .call = [](World& w) { return aclrtFreeHost(w.results.pointer); },
       .prepare = NewPinned},
      {.name = "aclrtFreeHostWithDevSync",
       .call = [](World& w) { return aclrtFreeHostWithDevSync(w.results.pointer); },
       .prepare = NewPinned},
      {.name = "aclrtGetMemInfo",
       .call = [](World& w) { return aclrtGetMemInfo(ACL_HBM_MEM, &w.results.size, &w.results.other_size); },
       .right = [](World& w) { return w.results.size > 0 && w.results.size <= w.results.other_size; }},
      {.name = "aclrtHostRegister",
       .call =
           [](World& w) {
             return aclrtHostRegister(w.pages, kBytes, ACL_HOST_REGISTER_MAPPED, &w.results.pointer);
           },
       .right = IsRegistered,
       .claims = IsRegistered,
       .undo = Unregister},
      {.name = "aclrtHostRegisterV2",
       .call = [](World& w) { return aclrtHostRegisterV2(w.pages, kBytes, ACL_HOST_REG_PINNED); },
       .right = IsRegistered,
       .claims = IsRegistered,
       .undo = Unregister},
      {.name = "aclrtHostGetDevicePointer",
       .call = [](World& w) { return aclrtHostGetDevicePointer(w.pages, &w.results.pointer, 0); },
       .prepare =
           [](World& w) {
             Register(w);
             w.results.pointer = nullptr;
           },
       .right = PointerReturned,
       .claims = PointerReturned,
       .undo = Unregister},
      {.name = "aclrtHostUnregister",
       .call = [](World& w) { return aclrtHostUnregister(w.pages); },
       .prepare = Register,
       .right = [](World& w) { return !IsRegistered(w); }},
      {.name = "aclrtPointerGetAttributes",
       .call =
           [](World& w) {
             aclrtPtrAttributes attributes = {};
             const aclError code = aclrtPointerGetAttributes(w.device_a, &attributes);
             w.results.number = attributes.location.type;
             return code;
           },
       .right = [](World& w) { return w.results.number == ACL_MEM_LOCATION_TYPE_DEVICE; }},
      {.name = "aclrtMemset",
       .call = [](World& w) { return aclrtMemset(w.device_a, kBytes, 0x44, kBytes); },
       .prepare = ZeroDeviceA,
       .right = [](World& w) { return w.Holds(w.device_a, 0x44); },
       .claims = Untouched},
      {.name = "aclrtMemsetAsync",
       .call = [](World& w) { return aclrtMemsetAsync(w.device_a, kBytes, 0x45, kBytes, w.stream); },
       .prepare = ZeroDeviceA,
       .right = [](World& w) { return w.Drained() && w.Holds(w.device_a, 0x45); },
       .claims = Untouched},
      {.name = "aclrtMemsetD32",
       .call = [](World& w) { return aclrtMemsetD32(w.device_a, kBytes, 0x46464646, kBytes / 4); },
       .prepare = ZeroDeviceA,
       .right = [](World& w) { return w.Holds(w.device_a, 0x46); },
       .claims = Untouched},
      {.name = "aclrtMemsetD32Async",
       .call =
           [](World& w) { return aclrtMemsetD32Async(w.device_a, kBytes, 0x47474747, kBytes / 4, w.stream); },
       .prepare = ZeroDeviceA,
       .right = [](World& w) { return w.Drained() && w.Holds(w.device_a, 0x47); },
       .claims = Untouched},
  };
}

}  // namespace sampan::fault
