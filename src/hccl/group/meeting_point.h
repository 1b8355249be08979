// The socket at which the ranks of a group meet: of one host, or in the network.
#pragma once

#include <optional>
#include <string>

#include "base/network/keyed_hash.h"
#include "base/network/peer_address.h"
#include "base/system/descriptor.h"
#include "base/time/clock.h"
#include "hccl/base.h"

namespace sampan::hccl {

/// With an address, the ranks meet there, over TCP. Otherwise they meet at a socket of this host:
/// the name of the socket is the prefix and a salt that rank 0 chooses for each start. So no other user can
/// bind it before rank 0 does. The other ranks find the name in the system's list of sockets, and skip
/// sockets of other users. Abstract names have no file, so nothing is left behind when a process dies.
struct MeetingPoint {
  std::string group;   ///< the name of the group, for messages
  std::string prefix;  ///< the same for all ranks
  Key secret{};        ///< proves that a process belongs to the group
  std::optional<PeerAddress> address{};

  /// Text for messages: "group 'name'", with the address.
  std::string Describe() const;
};

/// The system's random bytes as lowercase hexadecimal digits.
std::string RandomHex(std::size_t bytes);

/// A listening socket, at the address or with a new name; empty, with errno set, if there is none.
Descriptor Listen(const MeetingPoint& meeting);

/// Listens at the address, for a later Listen in this process. A port that is 0 is set. Returns false if the
/// port is taken.
bool Reserve(PeerAddress& address);

/// A connection to what listens at the address, or to a listening socket of this user.
struct FoundHub {
  Descriptor connection;
  int error = 0;                  ///< why there is none; kConnectedLate: no answer came
  std::size_t foreign_count = 0;  ///< sockets of other users with the prefix

  /// Whether there may be one later.
  bool may_come() const;
};
FoundHub FindHub(const MeetingPoint& meeting, Deadline until);

/// Returns true if a second socket of this user with the prefix listens on this host, besides the given one.
bool HasRival(const MeetingPoint& meeting, const Descriptor& listener);

}  // namespace sampan::hccl
