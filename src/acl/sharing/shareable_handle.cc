// Physical memory shared with other processes, by number.
#include <cstdint>
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/memory/physical_handle.h"
#include "acl/sharing/shared_key.h"

namespace sampan::acl {
namespace {

Status Export(aclrtDrvMemHandle handle, std::uint64_t flags, std::uint64_t* number) {
  constexpr std::uint64_t kForAllProcesses = ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION;
  if (Status checked = CheckShareFlags(flags, kForAllProcesses); !checked.ok()) return checked;
  auto physical = FindPhysical(handle);
  if (!physical.ok()) return physical.TakeStatus();
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto exported = caller->runtime.ExportPhysical(*physical, flags == kForAllProcesses);
  if (!exported.ok()) return exported.TakeStatus();
  std::memcpy(number, &*exported, sizeof(*number));  // the caller's buffer may have any alignment
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

Status Admit(std::uint64_t number, const std::int32_t* processes, std::size_t count) {
  if (Status present = RequireNonNull("pid", processes); !present.ok()) return present;
  if (count == 0) return InvalidArgument("pidNum is 0");
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  return caller->runtime.AdmitToPhysical(number, {processes, count});
}

/// Handles inside one host are numbers. Handles for other machines are not supported.
Status CheckType(aclrtMemSharedHandleType type) {
  switch (type) {
    case ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT:
      return {};
    case ACL_MEM_SHARE_HANDLE_TYPE_FABRIC:
      return {Code::kFeatureNotSupport,
              "shareType FABRIC: memory is shared between processes of one host only"};
  }
  return {Code::kParamInvalid, Text("shareType is ", static_cast<int>(type), ", it must be 1 (DEFAULT)")};
}

std::uint64_t ReadNumber(const void* handle) {
  std::uint64_t number = 0;
  std::memcpy(&number, handle, sizeof(number));
  return number;
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

// Compatibility: partly: handles that cross machines (FABRIC) are refused with
// ACL_ERROR_RT_FEATURE_NOT_SUPPORT
aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                           aclrtMemSharedHandleType shareType, void* shareableHandle) {
  return Guard("aclrtMemExportToShareableHandleV2", [&]() -> Status {
    if (Status present = RequireNonNull("handle", handle, "shareableHandle", shareableHandle); !present.ok())
      return present;
    if (Status checked = CheckType(shareType); !checked.ok()) return checked;
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

// Compatibility: partly: handles that cross machines (FABRIC) are refused with
// ACL_ERROR_RT_FEATURE_NOT_SUPPORT
aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType,
                                             uint64_t flags, aclrtDrvMemHandle* handle) {
  return Guard("aclrtMemImportFromShareableHandleV2", [&]() -> Status {
    if (Status present = RequireNonNull("shareableHandle", shareableHandle, "handle", handle); !present.ok())
      return present;
    if (Status checked = CheckType(shareType); !checked.ok()) return checked;
    if (flags != 0) return {Code::kParamInvalid, Text("flags is ", flags, ", it must be 0")};
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    return Import(ReadNumber(shareableHandle), caller->device().id(), handle);
  });
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum) {
  return Guard("aclrtMemSetPidToShareableHandle", [&] { return Admit(shareableHandle, pid, pidNum); });
}

// Compatibility: partly: handles that cross machines (FABRIC) are refused with
// ACL_ERROR_RT_FEATURE_NOT_SUPPORT
aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType,
                                           int32_t* pid, size_t pidNum) {
  return Guard("aclrtMemSetPidToShareableHandleV2", [&]() -> Status {
    if (Status present = RequireNonNull("shareableHandle", shareableHandle); !present.ok()) return present;
    if (Status checked = CheckType(shareType); !checked.ok()) return checked;
    return Admit(ReadNumber(shareableHandle), pid, pidNum);
  });
}
