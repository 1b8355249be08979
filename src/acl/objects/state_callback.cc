// Callbacks for set and reset devices, created and destroyed streams, and aborts.
#include "acl/objects/state_callback.h"

#include "acl/caller.h"
#include "acl/guard.h"
#include "base/threads/thread_sanitizer.h"
#include "core/callbacks/state_callbacks.h"
#include "process/process.h"

namespace sampan::acl {
namespace {

/// Never destroyed, like the runtime. Programs may register before there is a runtime.
struct StateCallbacks {
  core::NamedCallbacks<aclrtDeviceStateCallback> device;
  core::NamedCallbacks<aclrtStreamStateCallback> stream;
  core::NamedCallbacks<aclrtDeviceTaskAbortCallback> abort;

  static StateCallbacks& The() { return the; }

 private:
  static StateCallbacks& the;  // created when the library is loaded, so that no fork can interrupt it
};
StateCallbacks& StateCallbacks::the = *new StateCallbacks;

template <typename Callbacks, typename Function>
Status Register(Callbacks& callbacks, const char* name, Function function, void* argument) {
  if (Status present = RequireNonNull("regName", name); !present.ok()) return present;
  callbacks.Set(name, function, argument);
  return {};
}

Status TellAbort(std::int32_t device, aclrtDeviceTaskAbortStage stage, std::uint32_t timeout) {
  for (const auto& each : StateCallbacks::The().abort.All()) {
    const races::CalledProgram called_program;
    const std::int32_t answer = each.function(device, stage, timeout, each.argument);
    if (answer != 0) {
      return {Code::kInternalError,
              Text("a task-abort callback answered ", answer, " at stage ", static_cast<int>(stage))};
    }
  }
  return {};
}

}  // namespace

void TellDeviceState(std::int32_t device, aclrtDeviceState state) {
  for (const auto& each : StateCallbacks::The().device.All()) {
    const races::CalledProgram called_program;
    each.function(device, state, each.argument);
  }
}

void TellStreamState(aclrtStream stream, aclrtStreamState state) {
  for (const auto& each : StateCallbacks::The().stream.All()) {
    const races::CalledProgram called_program;
    each.function(stream, state, each.argument);
  }
}

}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtRegDeviceStateCallback(const char* regName, aclrtDeviceStateCallback callback, void* args) {
  return Guard("aclrtRegDeviceStateCallback",
               [&] { return Register(StateCallbacks::The().device, regName, callback, args); });
}

aclError aclrtRegStreamStateCallback(const char* regName, aclrtStreamStateCallback callback, void* args) {
  return Guard("aclrtRegStreamStateCallback",
               [&] { return Register(StateCallbacks::The().stream, regName, callback, args); });
}

aclError aclrtSetDeviceTaskAbortCallback(const char* regName, aclrtDeviceTaskAbortCallback callback,
                                         void* args) {
  return Guard("aclrtSetDeviceTaskAbortCallback",
               [&] { return Register(StateCallbacks::The().abort, regName, callback, args); });
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
  return Guard("aclrtDeviceTaskAbort", [&]() -> Status {
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    auto device = (*runtime)->FindDevice(deviceId);
    if (!device.ok()) return device.TakeStatus();
    const core::Device::Aborting aborting(**device);
    if (Status told = TellAbort(deviceId, ACL_RT_DEVICE_TASK_ABORT_PRE, timeout); !told.ok()) return told;
    (*runtime)->AbortDevice(**device);
    return TellAbort(deviceId, ACL_RT_DEVICE_TASK_ABORT_POST, timeout);
  });
}
