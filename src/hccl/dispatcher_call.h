// What calls on a dispatcher have in common.
#pragma once

#include <string_view>
#include <utility>

#include "hccl/dispatcher_object.h"
#include "hccl/platform_state.h"
#include "hccl/report.h"

namespace sampan::plf {

/// Runs the body with the dispatcher that a handle names. Null: HCCL_E_PTR; so are dead and forged ones.
template <typename Body>
HcclResult OnDispatcher(const char* function, HcclDispatcher handle, Body body) noexcept {
  return Protect(function, [&]() -> HcclResult {
    if (handle == nullptr) return Fail(function, HCCL_E_PTR, "dispatcherPtr is NULL");
    const auto dispatcher = ThePlatform().Find(handle);
    if (dispatcher == nullptr) {
      return Fail(
          function, HCCL_E_PTR,
          Text("dispatcherPtr ", Hex(handle), " is not a living dispatcher: destroyed or never made"));
    }
    return body(*dispatcher);
  });
}

/// The same as a public function, and who is at its other end.
template <typename Body>
HcclResult WithDispatcher(const char* function, HcclDispatcher handle, const Peer& peer, Body body) noexcept {
  TracedCall call(function, peer);
  return call.Ends(OnDispatcher(function, handle, body));
}
template <typename Body>
HcclResult WithDispatcher(const char* function, HcclDispatcher handle, Body body) noexcept {
  return WithDispatcher(function, handle, kNobody, body);
}

inline HcclResult RequirePointer(const char* function, std::string_view name, const void* pointer) {
  return pointer != nullptr ? HCCL_SUCCESS : Fail(function, HCCL_E_PTR, Text(name, " is NULL"));
}

inline Task TaskFor(hccl::Stream& stream, u64 begin_ns, TaskContent content) {
  return {stream.ptr(), stream.IsMainStream(), begin_ns, std::move(content)};
}

}  // namespace sampan::plf
