// What all calls on a dispatcher share.
#pragma once

#include <string_view>

#include "hccl/dispatcher/dispatcher_object.h"
#include "hccl/platform_state.h"
#include "hccl/report.h"

namespace sampan::hccl {

[[gnu::cold, gnu::noinline]] inline HcclResult FailWithoutDispatcher(const char* function,
                                                                     HcclDispatcher handle) {
  return Fail(function, HCCL_E_PTR,
              handle == nullptr ? Text("dispatcherPtr is NULL")
                                : Text("dispatcherPtr ", Hex(handle),
                                       " is not a living dispatcher: destroyed or never made"));
}

/// Runs the body with the dispatcher of a handle. Exceptions become codes. HCCL_E_PTR if there is no such
/// dispatcher.
template <typename Body>
HcclResult OnDispatcher(const char* function, HcclDispatcher handle, Body body) noexcept {
  try {
    Dispatcher* const dispatcher = ThePlatform().dispatchers().Find(handle);
    if (dispatcher == nullptr) [[unlikely]]
      return FailWithoutDispatcher(function, handle);
    return body(*dispatcher);
  } catch (...) {
    return FailFromException(function);
  }
}

/// The same for a public function. Traces show the call with its peer.
template <typename Body>
HcclResult WithDispatcher(const char* function, HcclDispatcher handle, const Peer& peer, Body body) noexcept {
  TracedCall call(function, peer);
  return call.Ends(OnDispatcher(function, handle, body));
}
template <typename Body>
HcclResult WithDispatcher(const char* function, HcclDispatcher handle, Body body) noexcept {
  return WithDispatcher(function, handle, kNoPeer, body);
}

[[gnu::cold, gnu::noinline]] inline HcclResult FailNull(const char* function, std::string_view name) {
  return Fail(function, HCCL_E_PTR, Text(name, " is NULL"));
}
inline HcclResult RequirePointer(const char* function, std::string_view name, const void* pointer) {
  return pointer != nullptr ? HCCL_SUCCESS : FailNull(function, name);
}

}  // namespace sampan::hccl
