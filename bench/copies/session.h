// Starts the runtime with one stream on device 0.
#pragma once

#include <acl/acl.h>

#include <cstdint>

namespace bench {

/// At most one per process. Throws a Failure with the reason if the runtime does not start.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::uint32_t devices() const { return devices_; }
  aclrtStream stream() const { return stream_; }
  /// True if device 0 can access the memory of device 1.
  bool has_peer() const { return has_peer_; }

  /// Waits for the stream; returns a timeout error after 60 s if the runtime hangs.
  aclError Synchronize() const;

 private:
  std::uint32_t devices_ = 0;
  aclrtStream stream_ = nullptr;
  bool has_peer_ = false;
};

}  // namespace bench
