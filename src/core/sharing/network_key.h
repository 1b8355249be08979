// A key that processes of other hosts can use: 64 characters with the owner's address.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backend/api/peer_network.h"
#include "base/error/status.h"
#include "core/sharing/share_board.h"

namespace sampan::core {

/// What such a key says.
struct NetworkKey {
  static constexpr std::size_t kCharacters = 64;

  std::uint32_t host = 0;  ///< HostMark of the owner's host
  CellAddress cell;
  PeerAddress address;

  std::string Encode(SharedKind kind) const;
  /// True for texts of this form. Other keys are for processes of one host.
  static bool IsOne(std::string_view key);
  /// Refuses a damaged key, and one of another kind (107000).
  static Result<NetworkKey> Decode(std::string_view key, SharedKind kind);
};

/// 32 bits of the hash of this host.
Result<std::uint32_t> HostMark();

}  // namespace sampan::core
