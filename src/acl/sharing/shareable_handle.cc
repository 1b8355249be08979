// Physical memory shared with other processes, by number or by fabric handle.
#include <cstdint>
#include <cstring>
#include <span>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/memory/physical_handle.h"
#include "acl/sharing/shared_key.h"

namespace sampan::acl {
namespace {

Result<std::shared_ptr<core::PhysicalMemory>> FindToExport(aclrtDrvMemHandle handle, std::uint64_t flags) {
  constexpr std::uint64_t kForAllProcesses = ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION;
  if (Status checked = CheckShareFlags(flags, kForAllProcesses); !checked.ok()) return checked;
  return FindPhysical(handle);
}

Status Export(aclrtDrvMemHandle handle, std::uint64_t flags, std::uint64_t* number) {
  auto physical = FindToExport(handle, flags);
  if (!physical.ok()) return physical.TakeStatus();
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto exported = caller->runtime.ExportPhysical(*physical, flags != 0);
  if (!exported.ok()) return exported.TakeStatus();
  std::memcpy(number, &*exported, sizeof(*number));  // the caller's buffer may have any alignment
  return {};
}

Status ExportToFabric(aclrtDrvMemHandle handle, std::uint64_t flags, void* shareable) {
  auto physical = FindToExport(handle, flags);
  if (!physical.ok()) return physical.TakeStatus();
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto exported = caller->runtime.ExportToFabric(*physical, flags != 0);
  if (!exported.ok()) return exported.TakeStatus();
  std::memcpy(shareable, exported->data(), exported->size());
  return {};
}

Status Import(std::uint64_t number, std::int32_t device, aclrtDrvMemHandle* handle) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto imported = caller->runtime.ImportPhysical(number, device);
  if (!imported.ok()) return imported.TakeStatus();
  *handle = *imported;
  return {};
}

Status CheckProcesses(const std::int32_t* processes, std::size_t count) {
  if (Status present = RequireNonNull("pid", processes); !present.ok()) return present;
  return count == 0 ? InvalidArgument("pidNum is 0") : Status();
}

Status Admit(std::uint64_t number, const std::int32_t* processes, std::size_t count) {
  if (Status named = CheckProcesses(processes, count); !named.ok()) return named;
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  return caller->runtime.AdmitToPhysical(number, {processes, count});
}

/// The form of a handle. A chip may have no handles for other machines.
Result<core::ShareForm> FormOf(aclrtMemSharedHandleType type) {
  switch (type) {
    case ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT:
      return core::ShareForm::kNumber;
    case ACL_MEM_SHARE_HANDLE_TYPE_FABRIC: {
      auto caller = ThisCaller();
      if (!caller.ok()) return caller.TakeStatus();
      const core::Profile& profile = caller->runtime.profile();
      if (profile.fabric) return core::ShareForm::kFabric;
      return Error{Code::kFeatureNotSupport,
                   Text("shareType FABRIC: ", profile.chip,
                        " shares memory between processes of one host only, set SAMPAN_PROFILE=ascend910c")};
    }
  }
  return Error{Code::kParamInvalid,
               Text("shareType is ", static_cast<int>(type), ", it must be 1 (DEFAULT) or 2 (FABRIC)")};
}

std::uint64_t ReadNumber(const void* handle) {
  std::uint64_t number = 0;
  std::memcpy(&number, handle, sizeof(number));
  return number;
}

std::span<const std::byte, core::FabricHandle::kBytes> ReadFabric(const void* handle) {
  static_assert(sizeof(aclrtMemFabricHandle) == core::FabricHandle::kBytes);
  return std::span<const std::byte, core::FabricHandle::kBytes>(static_cast<const std::byte*>(handle),
                                                                core::FabricHandle::kBytes);
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
                                         uint64_t flags, uint64_t* shareableHandle) {
  return Guard("aclrtMemExportToShareableHandle", [&]() -> Status {
    if (Status present = RequireNonNull("handle", handle, "shareableHandle", shareableHandle); !present.ok())
      return present;
    if (handleType != ACL_MEM_HANDLE_TYPE_NONE)
      return InvalidArgument(Text("handleType is ", static_cast<int>(handleType), ", it must be 0"));
    return Export(handle, flags, shareableHandle);
  });
}

// Compatibility: partly: FABRIC handles need the profile ascend910c, between hosts libfabric too
aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                           aclrtMemSharedHandleType shareType, void* shareableHandle) {
  return Guard("aclrtMemExportToShareableHandleV2", [&]() -> Status {
    if (Status present = RequireNonNull("handle", handle, "shareableHandle", shareableHandle); !present.ok())
      return present;
    const auto form = FormOf(shareType);
    if (!form.ok()) return Error(form.error());
    if (form.value() == core::ShareForm::kFabric) return ExportToFabric(handle, flags, shareableHandle);
    return Export(handle, flags, static_cast<std::uint64_t*>(shareableHandle));
  });
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                           aclrtDrvMemHandle* handle) {
  return Guard("aclrtMemImportFromShareableHandle", [&]() -> Status {
    if (Status present = RequireNonNull("handle", handle); !present.ok()) return present;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    if (auto device = caller->runtime.FindDevice(deviceId); !device.ok()) return device.TakeStatus();
    return Import(shareableHandle, deviceId, handle);
  });
}

// Compatibility: partly: FABRIC handles need the profile ascend910c, between hosts libfabric too
aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType,
                                             uint64_t flags, aclrtDrvMemHandle* handle) {
  return Guard("aclrtMemImportFromShareableHandleV2", [&]() -> Status {
    if (Status present = RequireNonNull("shareableHandle", shareableHandle, "handle", handle); !present.ok())
      return present;
    const auto form = FormOf(shareType);
    if (!form.ok()) return Error(form.error());
    if (flags != 0) return {Code::kParamInvalid, Text("flags is ", flags, ", it must be 0")};
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    const std::int32_t device = caller->device().id();
    if (form.value() == core::ShareForm::kNumber) return Import(ReadNumber(shareableHandle), device, handle);
    auto imported = caller->runtime.ImportFromFabric(ReadFabric(shareableHandle), device);
    if (!imported.ok()) return imported.TakeStatus();
    *handle = *imported;
    return {};
  });
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum) {
  return Guard("aclrtMemSetPidToShareableHandle", [&] { return Admit(shareableHandle, pid, pidNum); });
}

aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType,
                                           int32_t* pid, size_t pidNum) {
  return Guard("aclrtMemSetPidToShareableHandleV2", [&]() -> Status {
    if (Status present = RequireNonNull("shareableHandle", shareableHandle); !present.ok()) return present;
    const auto form = FormOf(shareType);
    if (!form.ok()) return Error(form.error());
    if (form.value() == core::ShareForm::kNumber) return Admit(ReadNumber(shareableHandle), pid, pidNum);
    if (Status named = CheckProcesses(pid, pidNum); !named.ok()) return named;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    return caller->runtime.AdmitToFabric(ReadFabric(shareableHandle), {pid, pidNum});
  });
}
