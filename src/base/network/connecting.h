// Connections that are never waited for without a limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

#include "base/network/peer_address.h"
#include "base/time/clock.h"

namespace sampan {

/// Waits until a socket is ready. Returns false if the time is over. A signal handler that runs meanwhile
/// does not end the wait.
bool AwaitSocket(int socket, short events, Deadline until);

/// In place of an error's number: no answer came in time.
inline constexpr int kConnectedLate = -1;
/// Connects a socket that does not block. Returns 0, an error's number, or kConnectedLate.
int ConnectBy(int socket, const SocketAddress& address, Deadline until);

/// Lets the system close connections of a TCP socket whose other end has not answered for so long. A
/// listening socket's connections inherit it.
void LimitSilence(int socket, int limit_ms);

/// The caller that makes room for another one: the oldest of the host that has the most callers, so that a
/// host that floods displaces its own. `callers` are in the order of their connections. `host_of` is a
/// pointer to the host's address, null for those that stay. Returns callers.end() if all of them stay.
template <typename Callers, typename HostOf>
auto FindDisplaced(Callers& callers, HostOf host_of) {
  std::map<decltype(PeerAddress::host), std::size_t> counts;
  std::size_t most = 0;
  for (auto& caller : callers) {
    if (const auto* const host = host_of(caller); host != nullptr) most = std::max(most, ++counts[*host]);
  }
  return std::find_if(callers.begin(), callers.end(), [&](auto& caller) {
    const auto* const host = host_of(caller);
    return host != nullptr && counts[*host] == most;
  });
}

}  // namespace sampan
