// The thread that keeps the ranks of a group together, in the process of rank 0.
#pragma once

#include <chrono>
#include <string>

#include "hccl/group/frame_socket.h"

namespace sampan::hccl {

struct HubOptions {
  std::string group;  ///< its name, for messages
  std::string token;
  u32 rank_size;
  std::chrono::milliseconds timeout;  ///< for all ranks to join
};

/// The longest token, in bytes: a connection cannot send more before it has proved that it knows the token.
inline constexpr u64 kMaxTokenBytes = 256;

/// Serves the group on a thread of its own until the last rank has left. Admits ranks of the same user that
/// know the token, gathers exchanges, and tells all ranks if one is gone. Throws if no thread can be started.
/// If memory runs out later, the group breaks and the process continues.
void StartHub(Descriptor listener, HubOptions options);

}  // namespace sampan::hccl
