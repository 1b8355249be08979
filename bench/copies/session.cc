// Starts the runtime with one stream on device 0.
#include "bench/copies/session.h"

#include "bench/measure/acl_call.h"
#include "bench/measure/failure.h"

namespace bench {

Session::Session() {
  Require(::aclInit(nullptr), "starting the runtime");
  Require(::aclrtGetDeviceCount(&devices_), "counting the devices");
  if (devices_ == 0) {
    throw Failure("there is no device; ASCEND_RT_VISIBLE_DEVICES must name some in ascending order");
  }
  if (devices_ > 1) {
    std::int32_t reachable = 0;
    Require(::aclrtSetDevice(1), "aclrtSetDevice(1)");
    has_peer_ = ::aclrtDeviceCanAccessPeer(&reachable, 0, 1) == ACL_SUCCESS && reachable == 1;
  }
  Require(::aclrtSetDevice(0), "aclrtSetDevice(0)");
  has_peer_ = has_peer_ && ::aclrtDeviceEnablePeerAccess(1, 0) == ACL_SUCCESS;
  Require(::aclrtCreateStream(&stream_), "aclrtCreateStream");
}

Session::~Session() {
  ::aclrtDestroyStream(stream_);
  ::aclrtResetDevice(0);
  if (devices_ > 1) ::aclrtResetDevice(1);
  ::aclFinalize();
}

aclError Session::Synchronize() const {
  constexpr std::int32_t kMaxMilliseconds = 60'000;
  return ::aclrtSynchronizeStreamWithTimeout(stream_, kMaxMilliseconds);
}

}  // namespace bench
