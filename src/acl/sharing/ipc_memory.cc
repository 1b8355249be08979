// Device memory shared with other processes, by key.
#include <cstdint>
#include <exception>
#include <string>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/sharing/shared_key.h"
#include "base/platform_bridge.h"

using namespace sampan;
using namespace sampan::acl;

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags) {
  return Guard("aclrtIpcMemGetExportKey", [&]() -> Status {
    if (Status present = RequireNonNull("devPtr", devPtr, "key", key); !present.ok()) return present;
    if (size == 0) return {Code::kParamInvalid, "size is 0"};
    if (Status checked = CheckKeyBuffer(len); !checked.ok()) return checked;
    constexpr std::uint64_t kForAllProcesses = ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION;
    if (Status checked = CheckShareFlags(flags, kForAllProcesses); !checked.ok()) return checked;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    if (Status may = RequireSharing(caller->runtime.profile()); !may.ok()) return may;
    std::int32_t device = caller->device().physical_id();
    if (const auto use = caller->runtime.memory().Find(reinterpret_cast<std::uintptr_t>(devPtr));
        use && use->facts.place.on_device()) {
      auto owner = caller->runtime.FindDevice(use->facts.place.device);
      if (owner.ok()) device = (*owner)->physical_id();
    }
    auto text = caller->runtime.sharing().Export({devPtr, size, flags == kForAllProcesses, device});
    if (!text.ok()) return text.TakeStatus();
    WriteKey(*text, key);
    return {};
  });
}

aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags) {
  return Guard("aclrtIpcMemImportByKey", [&]() -> Status {
    if (Status present = RequireNonNull("devPtr", devPtr, "key", key); !present.ok()) return present;
    constexpr std::uint64_t kWithPeerAccess = ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS;
    if (Status checked = CheckShareFlags(flags, kWithPeerAccess); !checked.ok()) return checked;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    core::Runtime& runtime = caller->runtime;
    const std::int32_t current = caller->device().id();
    std::int32_t owner = current;
    auto address = runtime.sharing().Import(ReadKey(key), [&](std::int32_t physical_device) {
      owner = runtime.VisibleDevice(physical_device, current);
      return core::MemorySharing::ImportPlace{{PlaceKind::kDevice, owner}, runtime.PhysicalDevice(owner)};
    });
    if (!address.ok()) return address.TakeStatus();
    if (flags == kWithPeerAccess && owner != current) runtime.peers().Enable(current, owner);
    *devPtr = *address;
    return {};
  });
}

aclError aclrtIpcMemClose(const char* key) {
  return Guard("aclrtIpcMemClose", [&]() -> Status {
    if (Status present = RequireNonNull("key", key); !present.ok()) return present;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    return caller->runtime.sharing().Close(ReadKey(key));
  });
}

void sampanCloseKey(const std::string& key) noexcept {
  try {
    // A key that was closed with its memory is no failure.
    if (core::Runtime* const runtime = process::TheRuntimeIfMade(); runtime != nullptr)
      static_cast<void>(runtime->sharing().Close(key));
  } catch (const std::exception&) {
    // The key is closed when the process exits.
  }
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
  return Guard("aclrtIpcMemSetImportPid", [&]() -> Status {
    if (Status present = RequireNonNull("key", key, "pid", pid); !present.ok()) return present;
    if (num == 0) return {Code::kParamInvalid, "num is 0"};
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    return caller->runtime.sharing().Admit(ReadKey(key), {pid, num});
  });
}

// Compatibility: partly: needs the profile ascend910c, and libfabric
aclError aclrtIpcMemImportPidInterServer(const char* key, aclrtServerPid* serverPids, size_t num) {
  return Guard("aclrtIpcMemImportPidInterServer", [&]() -> Status {
    if (Status present = RequireNonNull("key", key, "serverPids", serverPids); !present.ok()) return present;
    return AdmitServers(serverPids, num, [&](core::Runtime& runtime, std::uint32_t server, auto processes) {
      return runtime.sharing().AdmitOfServer(ReadKey(key), server, processes);
    });
  });
}

// Compatibility: partly: the links of the profiles' chips can be named, which changes nothing about copies
aclError aclrtIpcMemSetAttr(const char* key, aclrtIpcMemAttrType type, uint64_t attr) {
  return Guard("aclrtIpcMemSetAttr", [&]() -> Status {
    if (Status present = RequireNonNull("key", key); !present.ok()) return present;
    if (type != ACL_RT_IPC_MEM_ATTR_ACCESS_LINK)
      return {Code::kParamInvalid, Text("type is ", static_cast<int>(type), ", it must be 0")};
    if (attr > ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH)
      return {Code::kParamInvalid, Text("attr is ", attr, ", it must be 0 to 3")};
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    if (attr > ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS) {
      return {Code::kFeatureNotSupport,
              Text("attr ", attr, ": ", caller->runtime.profile().chip, " has no UB links")};
    }
    return caller->runtime.sharing().CheckExported(ReadKey(key));
  });
}
