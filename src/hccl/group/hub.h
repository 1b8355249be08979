// The thread that keeps the ranks of a group together, in the process of rank 0.
#pragma once

#include <chrono>
#include <string>

#include "hccl/group/introduction.h"

namespace sampan::hccl {

struct HubOptions {
  std::string group;  ///< its name, for messages
  Key secret;
  u32 rank_size;
  std::chrono::milliseconds timeout;  ///< for all ranks to join
  std::string own_host{};             ///< the address of this host, if ranks come from others
};

/// Serves the group on a thread of its own until the last rank has left. Admits ranks that prove that they
/// know the token; at a socket of this host they must be of this user, too. Gathers exchanges, and tells all
/// ranks if one is gone. Throws if no thread can be started. If memory runs out later, the group breaks and
/// the process continues. `in_network` is a second listener, or none.
void StartHub(Descriptor listener, HubOptions options, Descriptor in_network = Descriptor());

}  // namespace sampan::hccl
