// Keeps strangers away from libfabric's listening socket.
#pragma once

#include <span>
#include <vector>

#include "backend/api/peer_network.h"
#include "base/error/status.h"

namespace sampan::fabric {

/// libfabric reads the first message of a connection without a time limit: a stranger that sends half of one
/// would stop the whole thread. So a filter of the system admits packets only from the address and port of an
/// admitted importer. Connections inherit the filter, and the time limits, from the listening socket. Used
/// with the network's turn.
class ListenerGuard {
 public:
  /// Finds the process's socket that is bound to the address, before it listens, and drops all packets to it.
  static Result<ListenerGuard> Find(const PeerAddress& bound);

  /// The system gives up connections whose other side has not answered for so long.
  void LimitSilence(int limit_ms) const;
  Status Admit(std::span<const PeerAddress> importers) const;

 private:
  explicit ListenerGuard(int socket) : socket_(socket) {}

  int socket_;  // libfabric's
};

}  // namespace sampan::fabric
