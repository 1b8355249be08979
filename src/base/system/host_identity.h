// Which host the process runs on: one boot of a system, and one network of it. Which process it is.
#pragma once

#include <array>
#include <cstdint>

#include "base/error/status.h"

namespace sampan {

/// Two processes share a host if both parts are equal. Plain data: handles for other hosts contain it.
struct HostIdentity {
  std::array<std::uint8_t, 16> boot{};  ///< differs with each start of the system
  std::uint64_t network = 0;            ///< the network namespace of the process

  bool operator==(const HostIdentity&) const = default;
};

/// A hash of both parts.
std::uint64_t HashOf(const HostIdentity& host);
/// A number of the host for lists of processes, of 22 bits. Two hosts may have the same by chance.
inline std::uint32_t ServerNumber(const HostIdentity& host) {
  return static_cast<std::uint32_t>(HashOf(host) >> 42);
}

/// The host of this process. A process may change its network namespace, so it is read each time.
Result<HostIdentity> ThisHost();

/// One process among those of all hosts. Plain data: ranks of other hosts get it.
struct ProcessIdentity {
  HostIdentity host;
  std::int64_t process = 0;      ///< its number in its namespace
  std::uint64_t name_space = 0;  ///< of the numbers of processes

  bool operator==(const ProcessIdentity&) const = default;
};
Result<ProcessIdentity> ThisProcess();

}  // namespace sampan
