// The socket at which the ranks of a group meet. Another user cannot take its abstract name first.
#pragma once

#include <string>

#include "base/system/descriptor.h"
#include "hccl/base.h"

namespace sampan::hccl {

/// The name of the socket is the prefix and a salt that rank 0 chooses for each start. So no other user can
/// bind it before rank 0 does. The other ranks find the name in the system's list of sockets, and skip
/// sockets of other users. Abstract names have no file, so nothing is left behind when a process dies.
struct MeetingPoint {
  std::string group;   ///< the name of the group, for messages
  std::string prefix;  ///< the same for all ranks
  std::string token;   ///< proves that a process belongs to the group
};

/// The system's random bytes as lowercase hexadecimal digits.
std::string RandomHex(std::size_t bytes);

/// A listening socket with a new name; empty, with errno set, if there is none.
Descriptor Listen(const MeetingPoint& meeting);

/// A connection to a listening socket of this user; empty, with errno set, if there is none. ECONNREFUSED:
/// no rank 0 listens yet.
struct FoundHub {
  Descriptor connection;
  std::size_t foreign_count = 0;  ///< sockets of other users with the prefix
};
FoundHub FindHub(const MeetingPoint& meeting);

/// Returns true if a second socket of this user with the prefix listens, besides the given one.
bool HasRival(const MeetingPoint& meeting, const Descriptor& listener);

}  // namespace sampan::hccl
