// Notifies, shared and mapped memory, pools, values and callbacks under failing memory.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>

#include "acl/acl_rt_memory_soma.h"
#include "tests/fault/api_call.h"

namespace sampan::fault {
namespace {

constexpr std::size_t kGranule = std::size_t{2} << 20;

aclrtPhysicalMemProp Properties() {
  aclrtPhysicalMemProp prop = {};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  return prop;
}
aclError MakePhysical(World& w) {
  const aclrtPhysicalMemProp prop = Properties();
  return aclrtMallocPhysical(&w.results.physical, kGranule, &prop, 0);
}
aclError MakePool(World& w) {
  aclrtMemPoolProps props = {};
  props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  return aclrtMemPoolCreate(&w.results.pool, &props);
}
aclrtMemLocation DeviceZero() {
  return {0, ACL_MEM_LOCATION_TYPE_DEVICE};
}

void NewNotify(World& w) {
  EXPECT_EQ(aclrtCreateNotify(&w.results.notify, 0), ACL_SUCCESS);
}
void DropNotify(World& w) {
  EXPECT_EQ(aclrtDestroyNotify(w.results.notify), ACL_SUCCESS);
}
bool NotifyWorks(World& w) {
  return aclrtRecordNotify(w.results.notify, w.stream) == ACL_SUCCESS &&
         aclrtWaitAndResetNotify(w.results.notify, w.stream, 5) == ACL_SUCCESS && w.Drained();
}
void NotifyWithKey(World& w) {
  NewNotify(w);
  EXPECT_EQ(aclrtNotifyGetExportKey(w.results.notify, w.results.text, 65, 0), ACL_SUCCESS);
}
void NewSharedEvent(World& w) {
  EXPECT_EQ(aclrtCreateEventExWithFlag(&w.results.event, ACL_EVENT_IPC), ACL_SUCCESS);
}
void NewKey(World& w) {
  EXPECT_EQ(aclrtIpcMemGetExportKey(w.device_a, kBytes, w.results.text, 65, 1), ACL_SUCCESS);
}
void CloseKey(World& w) {
  EXPECT_EQ(aclrtIpcMemClose(w.results.text), ACL_SUCCESS);
}

void NewRange(World& w) {
  EXPECT_EQ(aclrtReserveMemAddress(&w.results.range, kGranule, 0, nullptr, 0), ACL_SUCCESS);
}
void DropRange(World& w) {
  EXPECT_EQ(aclrtReleaseMemAddress(w.results.range), ACL_SUCCESS);
}
void NewPhysical(World& w) {
  EXPECT_EQ(MakePhysical(w), ACL_SUCCESS);
}
void DropPhysical(World& w) {
  EXPECT_EQ(aclrtFreePhysical(w.results.physical), ACL_SUCCESS);
}
void NewRangeAndPhysical(World& w) {
  NewRange(w);
  NewPhysical(w);
}
void NewMapping(World& w) {
  NewRangeAndPhysical(w);
  EXPECT_EQ(aclrtMapMem(w.results.range, kGranule, 0, w.results.physical, 0), ACL_SUCCESS);
}
void DropRangeAndPhysical(World& w) {
  DropRange(w);
  DropPhysical(w);
}
void DropMapping(World& w) {
  EXPECT_EQ(aclrtUnmapMem(w.results.range), ACL_SUCCESS);
  DropRangeAndPhysical(w);
}
bool IsMapped(World& w) {
  aclrtMemLocation device = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  std::uint64_t access = 0;
  return aclrtMemGetAccess(w.results.range, &device, &access) == ACL_SUCCESS;
}
/// A mapping whose memory has no handle.
void NewMappingAlone(World& w) {
  NewMapping(w);
  DropPhysical(w);
}
bool MappingWorks(World& w) {
  w.Fill(w.results.range, 0x41);
  return w.Holds(w.results.range, 0x41);
}
void NewNumber(World& w) {
  NewPhysical(w);
  EXPECT_EQ(
      aclrtMemExportToShareableHandle(w.results.physical, ACL_MEM_HANDLE_TYPE_NONE, 0, &w.results.number),
      ACL_SUCCESS);
}
void DropImported(World& w) {
  EXPECT_EQ(aclrtFreePhysical(w.results.pointer), ACL_SUCCESS);
  DropPhysical(w);
}
bool HasNumber(World& w) {
  return w.results.number != 0;
}

void NewPool(World& w) {
  EXPECT_EQ(MakePool(w), ACL_SUCCESS);
}
void DropPool(World& w) {
  EXPECT_EQ(aclrtMemPoolDestroy(w.results.pool), ACL_SUCCESS);
}
void NewPoolMemory(World& w) {
  NewPool(w);
  EXPECT_EQ(aclrtMemPoolMallocAsync(&w.results.pointer, kBytes, w.results.pool, w.stream), ACL_SUCCESS);
}
bool PoolMemoryWorks(World& w) {
  w.Fill(w.results.pointer, 0x51);
  return w.Holds(w.results.pointer, 0x51);
}
void DropPoolMemory(World& w) {
  EXPECT_EQ(aclrtMemPoolFreeAsync(w.results.pointer, w.stream), ACL_SUCCESS);
  DropPool(w);
}

void OnFailure(aclrtExceptionInfo*) {}
void OnDevice(std::int32_t, aclrtDeviceState, void*) {}
void OnStream(aclrtStream, aclrtStreamState, void*) {}
std::int32_t OnAbort(std::int32_t, aclrtDeviceTaskAbortStage, std::uint32_t, void*) {
  return 0;
}

std::vector<ApiCall> SignalCalls() {
  return {
      {.name = "aclrtCreateNotify",
       .call = [](World& w) { return aclrtCreateNotify(&w.results.notify, 0); },
       .right = NotifyWorks,
       .claims = [](World& w) { return w.results.notify != nullptr; },
       .undo = DropNotify},
      {.name = "aclrtDestroyNotify",
       .call = [](World& w) { return aclrtDestroyNotify(w.results.notify); },
       .prepare = NewNotify},
      {.name = "aclrtRecordNotify",
       .call = [](World& w) { return aclrtRecordNotify(w.results.notify, w.stream); },
       .prepare = NewNotify,
       .right =
           [](World& w) {
             return aclrtWaitAndResetNotify(w.results.notify, w.stream, 5) == ACL_SUCCESS && w.Drained();
           },
       .undo = DropNotify},
      {.name = "aclrtWaitAndResetNotify",
       .call = [](World& w) { return aclrtWaitAndResetNotify(w.results.notify, w.stream, 5); },
       .prepare =
           [](World& w) {
             NewNotify(w);
             EXPECT_EQ(aclrtRecordNotify(w.results.notify, w.stream), ACL_SUCCESS);
             EXPECT_TRUE(w.Drained());
           },
       .right = [](World& w) { return w.Drained(); },
       .undo = DropNotify},
      {.name = "aclrtGetNotifyId",
       .call =
           [](World& w) {
             std::uint32_t id = 0;
             return aclrtGetNotifyId(w.results.notify, &id);
           },
       .prepare = NewNotify,
       .undo = DropNotify},
      {.name = "aclrtNotifyBatchReset",
       .call = [](World& w) { return aclrtNotifyBatchReset(&w.results.notify, 1); },
       .prepare = NewNotify,
       .undo = DropNotify},
      {.name = "aclrtNotifyGetExportKey",
       .call = [](World& w) { return aclrtNotifyGetExportKey(w.results.notify, w.results.text, 65, 0); },
       .prepare = NewNotify,
       .right = [](World& w) { return std::strlen(w.results.text) > 32; },
       .claims = [](World& w) { return w.results.text[0] != 0; },
       .undo = DropNotify},
      {.name = "aclrtNotifyImportByKey",
       .call = [](World& w) { return aclrtNotifyImportByKey(&w.results.pointer, w.results.text, 0); },
       .prepare = NotifyWithKey,
       .right = PointerReturned,
       .claims = PointerReturned,
       .undo =
           [](World& w) {
             EXPECT_EQ(aclrtDestroyNotify(w.results.pointer), ACL_SUCCESS);
             DropNotify(w);
           }},
      {.name = "aclrtNotifySetImportPid",
       .call =
           [](World& w) {
             std::int32_t process = getpid();
             return aclrtNotifySetImportPid(w.results.notify, &process, 1);
           },
       .prepare = NewNotify,
       .undo = DropNotify},
      {.name = "aclrtIpcGetEventHandle",
       .call =
           [](World& w) {
             aclrtIpcEventHandle handle = {};
             const aclError code = aclrtIpcGetEventHandle(w.results.event, &handle);
             std::memcpy(w.results.text, handle.reserved, sizeof(handle.reserved));
             return code;
           },
       .prepare = NewSharedEvent,
       .right = [](World& w) { return w.results.text[0] != 0; },
       .claims = [](World& w) { return w.results.text[0] != 0; },
       .undo = DropEvent},
      {.name = "aclrtIpcOpenEventHandle",
       .call =
           [](World& w) {
             aclrtIpcEventHandle handle = {};
             std::memcpy(handle.reserved, w.results.text, sizeof(handle.reserved));
             return aclrtIpcOpenEventHandle(handle, &w.results.pointer);
           },
       .prepare =
           [](World& w) {
             NewSharedEvent(w);
             aclrtIpcEventHandle handle = {};
             EXPECT_EQ(aclrtIpcGetEventHandle(w.results.event, &handle), ACL_SUCCESS);
             std::memcpy(w.results.text, handle.reserved, sizeof(handle.reserved));
           },
       .right =
           [](World& w) {
             return aclrtRecordEvent(w.results.pointer, w.stream) == ACL_SUCCESS && w.Drained();
           },
       .claims = PointerReturned,
       .undo =
           [](World& w) {
             EXPECT_EQ(aclrtDestroyEvent(w.results.pointer), ACL_SUCCESS);
             DropEvent(w);
           }},
      {.name = "aclrtValueWrite",
       .call = [](World& w) { return aclrtValueWrite(w.device_a, 7, 0, w.stream); },
       .prepare = [](World& w) { w.Fill(w.device_a, 0); },
       .right = [](World& w) { return w.Drained() && !w.Holds(w.device_a, 0); },
       .claims = [](World& w) { return !w.Drained() || !w.Holds(w.device_a, 0); }},
      {.name = "aclrtValueWait",
       .call = [](World& w) { return aclrtValueWait(w.device_a, 0, ACL_STREAM_WAIT_VALUE_EQ, w.stream); },
       .prepare = [](World& w) { w.Fill(w.device_a, 0); },
       .right = [](World& w) { return w.Drained(); }},
      {.name = "aclrtMemFlush", .call = [](World& w) { return aclrtMemFlush(w.device_a, kBytes); }},
      {.name = "aclrtMemInvalidate", .call = [](World& w) { return aclrtMemInvalidate(w.device_a, kBytes); }},
      {.name = "aclrtReduceAsync",
       .call =
           [](World& w) {
             return aclrtReduceAsync(w.device_a, w.device_b, kBytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                                     ACL_INT8, w.stream, nullptr);
           },
       .prepare =
           [](World& w) {
             w.Fill(w.device_a, 1);
             w.Fill(w.device_b, 2);
           },
       .right = [](World& w) { return w.Drained() && w.Holds(w.device_a, 3); },
       .claims = [](World& w) { return !w.Drained() || !w.Holds(w.device_a, 1); }},
  };
}

std::vector<ApiCall> IpcCalls() {
  return {
      {.name = "aclrtIpcMemGetExportKey",
       .call = [](World& w) { return aclrtIpcMemGetExportKey(w.device_a, kBytes, w.results.text, 65, 1); },
       .right = [](World& w) { return std::strlen(w.results.text) > 32; },
       .claims = [](World& w) { return w.results.text[0] != 0; },
       .undo = CloseKey},
      {.name = "aclrtIpcMemImportByKey",
       .call = [](World& w) { return aclrtIpcMemImportByKey(&w.results.pointer, w.results.text, 0); },
       .prepare =
           [](World& w) {
             NewKey(w);
             w.Fill(w.device_a, 0x61);
           },
       .right = [](World& w) { return w.Holds(w.results.pointer, 0x61); },
       .claims = PointerReturned,
       .undo =
           [](World& w) {
             CloseKey(w);
             CloseKey(w);
           }},
      {.name = "aclrtIpcMemClose",
       .call = [](World& w) { return aclrtIpcMemClose(w.results.text); },
       .prepare = NewKey},
      {.name = "aclrtIpcMemSetImportPid",
       .call =
           [](World& w) {
             std::int32_t process = getpid();
             return aclrtIpcMemSetImportPid(w.results.text, &process, 1);
           },
       .prepare = NewKey,
       .undo = CloseKey},
      {.name = "aclrtIpcMemSetAttr",
       .call =
           [](World& w) {
             return aclrtIpcMemSetAttr(w.results.text, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK,
                                       ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS);
           },
       .prepare = NewKey,
       .undo = CloseKey},
      {.name = "aclrtMemExportToShareableHandle",
       .call =
           [](World& w) {
             return aclrtMemExportToShareableHandle(w.results.physical, ACL_MEM_HANDLE_TYPE_NONE, 0,
                                                    &w.results.number);
           },
       .prepare = NewPhysical,
       .right = HasNumber,
       .claims = HasNumber,
       .undo = DropPhysical},
      {.name = "aclrtMemExportToShareableHandleV2",
       .call =
           [](World& w) {
             return aclrtMemExportToShareableHandleV2(w.results.physical, 0,
                                                      ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &w.results.number);
           },
       .prepare = NewPhysical,
       .right = HasNumber,
       .claims = HasNumber,
       .undo = DropPhysical},
      {.name = "aclrtMemImportFromShareableHandle",
       .call =
           [](World& w) {
             return aclrtMemImportFromShareableHandle(w.results.number, 0, &w.results.pointer);
           },
       .prepare = NewNumber,
       .right = PointerReturned,
       .claims = PointerReturned,
       .undo = DropImported},
      {.name = "aclrtMemImportFromShareableHandleV2",
       .call =
           [](World& w) {
             return aclrtMemImportFromShareableHandleV2(&w.results.number, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                        0, &w.results.pointer);
           },
       .prepare = NewNumber,
       .right = PointerReturned,
       .claims = PointerReturned,
       .undo = DropImported},
      {.name = "aclrtMemSetPidToShareableHandle",
       .call =
           [](World& w) {
             std::int32_t process = getpid();
             return aclrtMemSetPidToShareableHandle(w.results.number, &process, 1);
           },
       .prepare = NewNumber,
       .undo = DropPhysical},
      {.name = "aclrtMemSetPidToShareableHandleV2",
       .call =
           [](World& w) {
             std::int32_t process = getpid();
             return aclrtMemSetPidToShareableHandleV2(&w.results.number, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                      &process, 1);
           },
       .prepare = NewNumber,
       .undo = DropPhysical},
  };
}

std::vector<ApiCall> MappingCalls() {
  return {
      {.name = "aclrtReserveMemAddress",
       .call = [](World& w) { return aclrtReserveMemAddress(&w.results.range, kGranule, 0, nullptr, 0); },
       .right = [](World& w) { return w.results.range != nullptr; },
       .claims = [](World& w) { return w.results.range != nullptr; },
       .undo = DropRange},
      {.name = "aclrtReserveMemAddressNoUCMemory",
       .call =
           [](World& w) {
             return aclrtReserveMemAddressNoUCMemory(&w.results.range, kGranule, 0, nullptr, 0);
           },
       .right = [](World& w) { return w.results.range != nullptr; },
       .claims = [](World& w) { return w.results.range != nullptr; },
       .undo = DropRange},
      {.name = "aclrtReleaseMemAddress",
       .call = [](World& w) { return aclrtReleaseMemAddress(w.results.range); },
       .prepare = NewRange},
      {.name = "aclrtMallocPhysical",
       .call = MakePhysical,
       .right = [](World& w) { return w.results.physical != nullptr; },
       .claims = [](World& w) { return w.results.physical != nullptr; },
       .undo = DropPhysical},
      {.name = "aclrtFreePhysical",
       .call = [](World& w) { return aclrtFreePhysical(w.results.physical); },
       .prepare = NewPhysical},
      {.name = "aclrtMapMem",
       .call = [](World& w) { return aclrtMapMem(w.results.range, kGranule, 0, w.results.physical, 0); },
       .prepare = NewRangeAndPhysical,
       .right = MappingWorks,
       .claims = IsMapped,
       .undo = DropMapping},
      {.name = "aclrtMemMapNoAccess",
       .call =
           [](World& w) { return aclrtMemMapNoAccess(w.results.range, kGranule, 0, w.results.physical, 0); },
       .prepare = NewRangeAndPhysical,
       .right = IsMapped,
       .claims = IsMapped,
       .undo = DropMapping},
      {.name = "aclrtUnmapMem",
       .call = [](World& w) { return aclrtUnmapMem(w.results.range); },
       .prepare = NewMapping,
       .undo = DropRangeAndPhysical},
      {.name = "aclrtMemSetAccess",
       .call =
           [](World& w) {
             aclrtMemAccessDesc desc = {ACL_RT_MEM_ACCESS_FLAGS_READWRITE, DeviceZero(), {}};
             return aclrtMemSetAccess(w.results.range, kGranule, &desc, 1);
           },
       .prepare = NewMapping,
       .right = MappingWorks,
       .undo = DropMapping},
      {.name = "aclrtMemGetAccess",
       .call =
           [](World& w) {
             aclrtMemLocation location = DeviceZero();
             return aclrtMemGetAccess(w.results.range, &location, &w.results.number);
           },
       .prepare = NewMapping,
       .right = [](World& w) { return w.results.number == ACL_RT_MEM_ACCESS_FLAGS_READWRITE; },
       .undo = DropMapping},
      {.name = "aclrtMemGetAllocationGranularity",
       .call =
           [](World& w) {
             aclrtPhysicalMemProp prop = Properties();
             return aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM,
                                                     &w.results.size);
           },
       .right = [](World& w) { return w.results.size == kGranule; }},
      {.name = "aclrtMemGetAddressRange",
       .call =
           [](World& w) { return aclrtMemGetAddressRange(w.device_a, &w.results.pointer, &w.results.size); },
       .right = [](World& w) { return w.results.pointer == w.device_a; }},
      {.name = "aclrtMemRetainAllocationHandle",
       .call = [](World& w) { return aclrtMemRetainAllocationHandle(w.results.range, &w.results.pointer); },
       .prepare = NewMappingAlone,
       .right = PointerReturned,
       .claims = PointerReturned,
       .undo =
           [](World& w) {
             EXPECT_EQ(aclrtFreePhysical(w.results.pointer), ACL_SUCCESS);
             EXPECT_EQ(aclrtUnmapMem(w.results.range), ACL_SUCCESS);
             DropRange(w);
           }},
      {.name = "aclrtMemGetAllocationPropertiesFromHandle",
       .call =
           [](World& w) {
             aclrtPhysicalMemProp prop = {};
             return aclrtMemGetAllocationPropertiesFromHandle(w.results.physical, &prop);
           },
       .prepare = NewPhysical,
       .undo = DropPhysical},
  };
}

std::vector<ApiCall> PoolCalls() {
  return {
      {.name = "aclrtMemPoolCreate",
       .call = MakePool,
       .right = [](World& w) { return w.results.pool != nullptr; },
       .claims = [](World& w) { return w.results.pool != nullptr; },
       .undo = DropPool},
      {.name = "aclrtMemPoolDestroy",
       .call = [](World& w) { return aclrtMemPoolDestroy(w.results.pool); },
       .prepare = NewPool},
      {.name = "aclrtMemPoolSetAttr",
       .call =
           [](World& w) {
             std::uint64_t value = 4096;
             return aclrtMemPoolSetAttr(w.results.pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value);
           },
       .prepare = NewPool,
       .undo = DropPool},
      {.name = "aclrtMemPoolGetAttr",
       .call =
           [](World& w) {
             return aclrtMemPoolGetAttr(w.results.pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT,
                                        &w.results.number);
           },
       .prepare = NewPool,
       .undo = DropPool},
      {.name = "aclrtMemPoolMallocAsync",
       .call =
           [](World& w) {
             return aclrtMemPoolMallocAsync(&w.results.pointer, kBytes, w.results.pool, w.stream);
           },
       .prepare = NewPool,
       .right = PoolMemoryWorks,
       .claims = PointerReturned,
       .undo = DropPoolMemory},
      {.name = "aclrtMemPoolFreeAsync",
       .call = [](World& w) { return aclrtMemPoolFreeAsync(w.results.pointer, w.stream); },
       .prepare = NewPoolMemory,
       .undo = DropPool},
      {.name = "aclrtMemPoolTrimTo",
       .call = [](World& w) { return aclrtMemPoolTrimTo(w.results.pool, 0); },
       .prepare = NewPool,
       .undo = DropPool},
  };
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
std::vector<ApiCall> StateCalls() {
  return {
      {.name = "aclrtSetExceptionInfoCallback",
       .call = [](World&) { return aclrtSetExceptionInfoCallback(&OnFailure); },
       .undo = [](World&) { EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS); }},
      {.name = "aclrtExceptionInfoCallbackRegister",
       .call = [](World&) { return aclrtExceptionInfoCallbackRegister(&OnFailure); },
       .undo = [](World&) { EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(&OnFailure), ACL_SUCCESS); }},
      {.name = "aclrtExceptionInfoCallbackUnregister",
       .call = [](World&) { return aclrtExceptionInfoCallbackUnregister(&OnFailure); },
       .prepare = [](World&) { EXPECT_EQ(aclrtExceptionInfoCallbackRegister(&OnFailure), ACL_SUCCESS); }},
      {.name = "aclrtRegDeviceStateCallback",
       .call = [](World&) { return aclrtRegDeviceStateCallback("fault", &OnDevice, nullptr); },
       .undo =
           [](World&) { EXPECT_EQ(aclrtRegDeviceStateCallback("fault", nullptr, nullptr), ACL_SUCCESS); }},
      {.name = "aclrtRegStreamStateCallback",
       .call = [](World&) { return aclrtRegStreamStateCallback("fault", &OnStream, nullptr); },
       .undo =
           [](World&) { EXPECT_EQ(aclrtRegStreamStateCallback("fault", nullptr, nullptr), ACL_SUCCESS); }},
      {.name = "aclrtSetDeviceTaskAbortCallback",
       .call = [](World&) { return aclrtSetDeviceTaskAbortCallback("fault", &OnAbort, nullptr); },
       .undo =
           [](World&) {
             EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("fault", nullptr, nullptr), ACL_SUCCESS);
           }},
      {.name = "aclrtDeviceTaskAbort", .call = [](World&) { return aclrtDeviceTaskAbort(0, 0); }},
  };
}
#pragma GCC diagnostic pop

}  // namespace

std::vector<ApiCall> SharingCalls() {
  std::vector<ApiCall> all;
  for (const auto& calls : {SignalCalls(), IpcCalls(), MappingCalls(), PoolCalls(), StateCalls()})
    all.insert(all.end(), calls.begin(), calls.end());
  return all;
}

}  // namespace sampan::fault
