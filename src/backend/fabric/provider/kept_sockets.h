// Sockets that libfabric makes: finds them, keeps them out of programs that this process starts, and keeps
// their queues short.
#pragma once

#include <vector>

#include "backend/api/peer_network.h"

namespace sampan::fabric {

/// The process's sockets of TCP that are bound to the address and port: a listener and what it has accepted.
std::vector<int> SocketsBoundTo(const PeerAddress& bound);

/// A child that inherited a connection would keep it open after this process was killed: the peer would
/// notice nothing until the time limit. libfabric makes its sockets without FD_CLOEXEC. A program that starts
/// between the making of a socket and this call still inherits it.
///
/// Also bounds what the system takes from the sockets' senders ahead of the network. Without that it is
/// megabytes, which have left the caches when they are sent, and which later messages wait for.
void PrepareSockets(const PeerAddress& bound);

}  // namespace sampan::fabric
