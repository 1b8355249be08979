// The table of `acl.rt`: allocation, registration, virtual memory, memory of other processes.
#include "tables.h"

namespace sampan::python {
namespace {

using MallocAttributes = std::vector<aclrtMallocAttribute>;

/// Without attributes the C functions get NULL.
struct Config {
  explicit Config(MallocAttributes& attributes) : config{attributes.data(), attributes.size()} {}
  aclrtMallocConfig* get() { return config.numAttrs > 0 ? &config : nullptr; }
  aclrtMallocConfig config;
};

aclError MallocWithConfig(void** address, size_t size, aclrtMemMallocPolicy policy,
                          MallocAttributes& attributes) {
  return aclrtMallocWithCfg(address, size, policy, Config(attributes).get());
}

aclError MallocHostWithConfig(void** address, size_t size, MallocAttributes& attributes) {
  return aclrtMallocHostWithCfg(address, size, Config(attributes).get());
}

aclError HostGetDevicePointer(void* ptr, uint32_t flag, void** device_address) {
  return aclrtHostGetDevicePointer(ptr, device_address, flag);
}

aclError MallocPhysical(aclrtDrvMemHandle* handle, size_t size, aclrtPhysicalMemProp& property,
                        uint64_t flags) {
  return aclrtMallocPhysical(handle, size, &property, flags);
}

aclError AllocationGranularity(aclrtPhysicalMemProp& property, aclrtMemGranularityOptions option,
                               size_t* granularity) {
  return aclrtMemGetAllocationGranularity(&property, option, granularity);
}

aclError SetPidToShareableHandle(uint64_t shareable, std::vector<int32_t>& pids) {
  return aclrtMemSetPidToShareableHandle(shareable, pids.data(), pids.size());
}

aclError IpcExportKey(void* ptr, size_t size, size_t length, uint64_t flag, Text* key) {
  std::vector<char> text(length + 1);
  const aclError code = aclrtIpcMemGetExportKey(ptr, size, text.data(), length, flag);
  if (code == ACL_SUCCESS) key->value = text.data();
  return code;
}

aclError IpcImportPids(const char* key, std::vector<int32_t>& pids) {
  return aclrtIpcMemSetImportPid(key, pids.data(), pids.size());
}

}  // namespace

Rows MemoryRows() {
  return {
      Row<"malloc", aclrtMalloc, "size policy">(),
      Row<"malloc_align32", aclrtMallocAlign32, "size policy">(),
      Row<"malloc_cached", aclrtMallocCached, "size policy">(),
      Row<"malloc_with_cfg", MallocWithConfig, "size policy cfg">(),
      Row<"malloc_host_with_cfg", MallocHostWithConfig, "size cfg">(),
      Row<"free", aclrtFree, "ptr">(),
      Row<"malloc_host", aclrtMallocHost, "size">(),
      Row<"free_host", aclrtFreeHost, "ptr">(),
      Row<"host_register", aclrtHostRegister, "ptr size type">(),
      Row<"host_register_v2", aclrtHostRegisterV2, "ptr size flag">(),
      Row<"host_get_device_pointer", HostGetDevicePointer, "ptr flag">(),
      Row<"host_unregister", aclrtHostUnregister, "ptr">(),
      Query<"get_mem_info", aclrtGetMemInfo, "attr">(),
      Query<"pointer_get_attributes", aclrtPointerGetAttributes, "ptr">(),
      Row<"mem_flush", aclrtMemFlush, "ptr size">(),
      Row<"mem_invalidate", aclrtMemInvalidate, "ptr size">(),
      Row<"reserve_mem_address", aclrtReserveMemAddress, "size alignment expect_ptr flags">(),
      Row<"release_mem_address", aclrtReleaseMemAddress, "ptr">(),
      Row<"malloc_physical", MallocPhysical, "size prop flags">(),
      Row<"free_physical", aclrtFreePhysical, "handle">(),
      Row<"map_mem", aclrtMapMem, "ptr size offset handle flags">(),
      Row<"unmap_mem", aclrtUnmapMem, "ptr">(),
      Row<"mem_export_to_shareable_handle", aclrtMemExportToShareableHandle, "handle type flags">(),
      Row<"mem_set_pid_to_shareable_handle", SetPidToShareableHandle, "shareable pids">(),
      Row<"mem_import_from_shareable_handle", aclrtMemImportFromShareableHandle, "shareable device">(),
      Query<"mem_get_allocation_granularity", AllocationGranularity, "prop option">(),
      Row<"ipc_mem_get_export_key", IpcExportKey, "ptr size len flag">(),
      Row<"ipc_mem_import_by_key", aclrtIpcMemImportByKey, "key flag">(),
      Row<"ipc_mem_set_import_pid", IpcImportPids, "key pids">(),
      Row<"ipc_mem_close", aclrtIpcMemClose, "key">(),
  };
}

}  // namespace sampan::python
