// Notifies: binary signals between streams of one or several processes.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/sharing/shared_key.h"
#include "base/platform_bridge.h"
#include "core/objects/dead_handle.h"

namespace sampan::acl {
namespace {

Result<std::shared_ptr<core::Notify>> FindNotify(aclrtNotify handle, std::string_view argument = "notify") {
  if (Status present = RequireNonNull(argument, handle); !present.ok()) return present;
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto notify = caller->runtime.FindNotify(handle);
  if (notify != nullptr) return notify;
  return core::DeadHandle(argument, "notify", handle);
}

/// A notify of this process.
Result<std::shared_ptr<core::Notify>> FindOwn(aclrtNotify handle) {
  auto notify = FindNotify(handle);
  if (!notify.ok() || !(*notify)->imported()) return notify;
  return Error{Code::kParamInvalid,
               Text("notify ", Hex(handle), " is another process's, which alone can share it")};
}

aclError Record(const char* function, aclrtNotify notify, aclrtStream stream,
                const std::shared_ptr<SignalLink>& link) noexcept {
  return Guard(function, [&]() -> Status {
    auto found = FindNotify(notify);
    if (!found.ok()) return found.TakeStatus();
    auto call = FindOwnStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    return (*found)->Record(call->stream(), link);
  });
}

aclError Wait(const char* function, aclrtNotify notify, aclrtStream stream, std::uint32_t seconds,
              const std::shared_ptr<SignalLink>& link) noexcept {
  return Guard(function, [&]() -> Status {
    auto found = FindNotify(notify);
    if (!found.ok()) return found.TakeStatus();
    auto call = FindOwnStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    call->runtime.backend().WatchGates();
    return (*found)->WaitIn(call->stream(), std::chrono::seconds(seconds), link);
  });
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag) {
  return Guard("aclrtCreateNotify", [&]() -> Status {
    if (Status present = RequireNonNull("notify", notify); !present.ok()) return present;
    if (flag > ACL_NOTIFY_DEVICE_USE_ONLY)
      return {Code::kParamInvalid, Text("flag is ", flag, ", it must be 0 or 1")};
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    if (Status may = RequireSignals(caller->runtime); !may.ok()) return may;
    auto handle = caller->runtime.CreateNotify(caller->device());
    if (!handle.ok()) return handle.TakeStatus();
    *notify = *handle;
    return {};
  });
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
  return Guard("aclrtDestroyNotify", [&]() -> Status {
    if (Status present = RequireNonNull("notify", notify); !present.ok()) return present;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    return caller->runtime.DestroyNotify(notify);
  });
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  return Record("aclrtRecordNotify", notify, stream, nullptr);
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  return Wait("aclrtWaitAndResetNotify", notify, stream, timeout, nullptr);
}

int sampanRecordLinked(void* notify, void* stream, const std::shared_ptr<SignalLink>& link) {
  return Record("aclrtRecordNotify", notify, stream, link);
}

int sampanWaitLinked(void* notify, void* stream, std::uint32_t seconds,
                     const std::shared_ptr<SignalLink>& link) {
  return Wait("aclrtWaitAndResetNotify", notify, stream, seconds, link);
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId) {
  return Guard("aclrtGetNotifyId", [&]() -> Status {
    if (Status present = RequireNonNull("notify", notify, "notifyId", notifyId); !present.ok())
      return present;
    auto found = FindNotify(notify);
    if (!found.ok()) return found.TakeStatus();
    *notifyId = (*found)->id();
    return {};
  });
}

aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num) {
  return Guard("aclrtNotifyBatchReset", [&]() -> Status {
    if (Status present = RequireNonNull("notifies", notifies); !present.ok()) return present;
    if (num == 0) return {Code::kParamInvalid, "num is 0"};
    std::vector<std::shared_ptr<core::Notify>> all;
    for (size_t i = 0; i < num; ++i) {
      auto found = FindNotify(notifies[i], Text("notifies[", i, "]"));
      if (!found.ok()) return found.TakeStatus();
      if (Status may = (*found)->MayReset(); !may.ok()) return may;
      all.push_back(std::move(*found));
    }
    for (const auto& each : all)
      each->Reset();
    return {};
  });
}

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len, uint64_t flags) {
  return Guard("aclrtNotifyGetExportKey", [&]() -> Status {
    if (Status present = RequireNonNull("notify", notify, "key", key); !present.ok()) return present;
    if (Status checked = CheckKeyBuffer(len); !checked.ok()) return checked;
    constexpr std::uint64_t kForAllProcesses = ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION;
    if (Status checked = CheckShareFlags(flags, kForAllProcesses); !checked.ok()) return checked;
    auto found = FindOwn(notify);
    if (!found.ok()) return found.TakeStatus();
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    auto text = caller->runtime.KeyOfNotify(**found, flags == kForAllProcesses);
    if (!text.ok()) return text.TakeStatus();
    WriteKey(*text, key);
    return {};
  });
}

aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags) {
  return Guard("aclrtNotifyImportByKey", [&]() -> Status {
    if (Status present = RequireNonNull("notify", notify, "key", key); !present.ok()) return present;
    if (Status checked = CheckShareFlags(flags, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS); !checked.ok())
      return checked;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    if (Status may = RequireSignals(caller->runtime); !may.ok()) return may;
    auto handle = caller->runtime.ImportNotify(caller->device(), ReadKey(key));
    if (!handle.ok()) return handle.TakeStatus();
    *notify = *handle;
    return {};
  });
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num) {
  return Guard("aclrtNotifySetImportPid", [&]() -> Status {
    if (Status present = RequireNonNull("notify", notify, "pid", pid); !present.ok()) return present;
    if (num == 0) return {Code::kParamInvalid, "num is 0"};
    auto found = FindOwn(notify);
    if (!found.ok()) return found.TakeStatus();
    return (*found)->own_cell()->Admit({pid, num});
  });
}

// Compatibility: partly: needs the profile ascend910c, and libfabric
aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid* serverPids, size_t num) {
  return Guard("aclrtNotifySetImportPidInterServer", [&]() -> Status {
    if (Status present = RequireNonNull("notify", notify, "serverPids", serverPids); !present.ok())
      return present;
    auto found = FindOwn(notify);
    if (!found.ok()) return found.TakeStatus();
    return AdmitServers(serverPids, num, [&](core::Runtime& runtime, std::uint32_t server, auto processes) {
      return runtime.AdmitToNotify(**found, server, processes);
    });
  });
}
