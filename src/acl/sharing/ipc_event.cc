// Events shared with other processes.
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/sharing/shared_key.h"

using namespace sampan;
using namespace sampan::acl;

static_assert(sizeof(aclrtIpcEventHandle) >= kKeyBytes - 1);

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle) {
  return Guard("aclrtIpcGetEventHandle", [&]() -> Status {
    if (Status present = RequireNonNull("event", event, "handle", handle); !present.ok()) return present;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    auto found = FindEvent(caller->runtime, event);
    if (!found.ok()) return found.TakeStatus();
    if ((*found)->shared() == nullptr)
      return {Code::kParamInvalid, Text("event ", Hex(event), " was made without ACL_EVENT_IPC")};
    auto key = (*found)->shared()->Key();
    if (!key.ok()) return key.TakeStatus();
    std::memset(handle, 0, sizeof(*handle));
    std::memcpy(handle->reserved, key->data(), key->size());
    return {};
  });
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event) {
  return Guard("aclrtIpcOpenEventHandle", [&]() -> Status {
    if (Status present = RequireNonNull("event", event); !present.ok()) return present;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    if (Status may = RequireSignals(caller->runtime); !may.ok()) return may;
    const std::string key(handle.reserved, ::strnlen(handle.reserved, sizeof(handle.reserved)));
    auto opened = caller->runtime.OpenSharedEvent(*caller->context, key);
    if (!opened.ok()) return opened.TakeStatus();
    *event = *opened;
    return {};
  });
}
