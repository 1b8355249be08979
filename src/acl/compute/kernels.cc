// Operator binaries, launches and groups of cores. A binary can be described; nothing can be loaded or
// launched.
#include <cstdint>
#include <memory>

#include "acl/acl_rt.h"
#include "acl/guard.h"
#include "acl/not_supported.h"
#include "core/objects/dead_handle.h"
#include "process/process.h"

namespace sampan::acl {
namespace {

/// The pointers first, then the refusal.
template <typename... Rest>
aclError RefuseAfterNull(const char* function, Rest... names_and_pointers) {
  return Guard(function, [&]() -> Status {
    if (Status present = RequireNonNull(names_and_pointers...); !present.ok()) return present;
    return Unsupported(function);
  });
}

/// No binary can be loaded, so no handle of one is valid.
template <typename... Rest>
aclError NoLoadedBinary(const char* function, aclrtBinHandle handle, Rest... names_and_pointers) {
  return Guard(function, [&]() -> Status {
    if (Status present = RequireNonNull("binHandle", handle, names_and_pointers...); !present.ok())
      return present;
    return core::DeadHandle("binHandle", "loaded binary", handle);
  });
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclrtBinary aclrtCreateBinary(const void* data, size_t dataLen) {
  aclrtBinary handle = nullptr;
  static_cast<void>(Guard("aclrtCreateBinary", [&]() -> Status {
    if (Status present = RequireNonNull("data", data); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    handle = (*runtime)->binaries().Insert(
        std::make_shared<core::OperatorBinary>(core::OperatorBinary{data, dataLen}));
    return handle != nullptr ? Status() : Status(Code::kResourceAllocFail, "all handles are in use");
  }));
  return handle;
}

aclError aclrtDestroyBinary(aclrtBinary binary) {
  return Guard("aclrtDestroyBinary", [&]() -> Status {
    if (Status present = RequireNonNull("binary", binary); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    return (*runtime)->binaries().Remove(binary) != nullptr ? Status()
                                                            : core::DeadHandle("binary", "binary", binary);
  });
}

// Compatibility: not supported: there is no compute
aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* binHandle) {
  return RefuseAfterNull("aclrtBinaryLoad", "binary", binary, "binHandle", binHandle);
}

// Compatibility: not supported: there is no compute
aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions*, aclrtBinHandle* binHandle) {
  return RefuseAfterNull("aclrtBinaryLoadFromFile", "binPath", binPath, "binHandle", binHandle);
}

// Compatibility: not supported: there is no compute
aclError aclrtBinaryLoadFromData(const void* data, size_t, const aclrtBinaryLoadOptions*,
                                 aclrtBinHandle* binHandle) {
  return RefuseAfterNull("aclrtBinaryLoadFromData", "data", data, "binHandle", binHandle);
}

// Compatibility: not supported: no chip has it
aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t, aclrtFuncHandle* funcHandle) {
  return RefuseAfterNull("aclrtBinaryGetFunctionByEntry", "binHandle", binHandle, "funcHandle", funcHandle);
}

// Compatibility: not supported: no binary can be loaded, so no handle is valid
aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
  return NoLoadedBinary("aclrtBinaryUnLoad", binHandle);
}

// Compatibility: not supported: no binary can be loaded, so no handle is valid
aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName,
                                aclrtFuncHandle* funcHandle) {
  return NoLoadedBinary("aclrtBinaryGetFunction", binHandle, "kernelName", kernelName, "funcHandle",
                        funcHandle);
}

// Compatibility: not supported: no binary can be loaded, so no handle is valid
aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void** binAddr, size_t* binSize) {
  return NoLoadedBinary("aclrtBinaryGetDevAddress", binHandle, "binAddr", binAddr, "binSize", binSize);
}

// Compatibility: not supported: no binary can be loaded, so no handle is valid
aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char* name, void** dptr, size_t* size) {
  const void* const either = dptr != nullptr ? static_cast<const void*>(dptr) : size;
  return NoLoadedBinary("aclrtBinaryGetGlobal", binHandle, "name", name, "dptr and size", either);
}

// Compatibility: not supported: no binary can be loaded, so no handle is valid
aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle, aclrtOpExceptionCallback, void*) {
  return NoLoadedBinary("aclrtBinarySetExceptionCallback", binHandle);
}

// Compatibility: not supported: there is no compute
aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t, const void* argsData, size_t, aclrtStream) {
  return RefuseAfterNull("aclrtLaunchKernel", "funcHandle", funcHandle, "argsData", argsData);
}

// Compatibility: not supported: there is no compute
aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t, const void* argsData, size_t,
                             aclrtLaunchKernelCfg*, aclrtStream) {
  return RefuseAfterNull("aclrtLaunchKernelV2", "funcHandle", funcHandle, "argsData", argsData);
}

// Compatibility: not supported: there is no compute
aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t, aclrtStream, aclrtLaunchKernelCfg*,
                                     aclrtArgsHandle argsHandle, void*) {
  return RefuseAfterNull("aclrtLaunchKernelWithConfig", "funcHandle", funcHandle, "argsHandle", argsHandle);
}

// Compatibility: not supported: there is no compute
aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t, aclrtStream,
                                       aclrtLaunchKernelCfg*, void* hostArgs, size_t, aclrtPlaceHolderInfo*,
                                       size_t) {
  return RefuseAfterNull("aclrtLaunchKernelWithHostArgs", "funcHandle", funcHandle, "hostArgs", hostArgs);
}

// Compatibility: not supported: there is no compute
aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t, aclrtStream, aclrtLaunchKernelCfg*,
                                        void** args) {
  return RefuseAfterNull("aclrtLaunchKernelWithArgsArray", "func", func, "args", args);
}

// Compatibility: not supported: an address that no core serves would be a lie
aclError aclrtGetHardwareSyncAddr(void** addr) {
  return Guard("aclrtGetHardwareSyncAddr", [&]() -> Status {
    if (addr == nullptr) return {Code::kParamInvalid, "addr is NULL"};
    return Unsupported("aclrtGetHardwareSyncAddr");
  });
}

aclrtGroupInfo* aclrtCreateGroupInfo(void) {
  return nullptr;
}

// Compatibility: not supported: no chip of the profiles has groups of cores
aclError aclrtSetGroup(int32_t) {
  return NotSupported("aclrtSetGroup");
}

// Compatibility: not supported: no chip of the profiles has groups of cores
aclError aclrtGetGroupCount(uint32_t* count) {
  return RefuseAfterNull("aclrtGetGroupCount", "count", count);
}

// Compatibility: not supported: no chip of the profiles has groups of cores
aclError aclrtGetAllGroupInfo(aclrtGroupInfo* groupInfo) {
  return RefuseAfterNull("aclrtGetAllGroupInfo", "groupInfo", groupInfo);
}

// Compatibility: not supported: no chip of the profiles has groups of cores
aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* groupInfo, int32_t, aclrtGroupAttr, void* attrValue,
                                 size_t, size_t* paramRetSize) {
  return RefuseAfterNull("aclrtGetGroupInfoDetail", "groupInfo", groupInfo, "attrValue", attrValue,
                         "paramRetSize", paramRetSize);
}

// Compatibility: not supported: no chip of the profiles has groups of cores
aclError aclrtDestroyGroupInfo(aclrtGroupInfo* groupInfo) {
  return RefuseAfterNull("aclrtDestroyGroupInfo", "groupInfo", groupInfo);
}
