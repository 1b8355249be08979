// The meeting point of a group's ranks, kept by the process of rank 0.
#pragma once

#include <chrono>
#include <string>

#include "hccl/frame_socket.h"

namespace sampan::hccl {

struct HubOptions {
  std::string group;  ///< its name, for messages
  std::string token;
  u32 rank_size;
  std::chrono::milliseconds timeout;  ///< for everybody to come
};

/// Serves the group on a thread of its own until the last rank has gone: admits ranks of the same user that
/// know the token, gathers what they exchange, and tells everybody when one is gone. Throws when there is no
/// thread.
void StartHub(Descriptor listener, HubOptions options);

}  // namespace sampan::hccl
