// A handle of physical memory for processes of any host: 128 bytes that a program may store and send.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/api/peer_network.h"
#include "base/error/status.h"
#include "base/system/host_identity.h"
#include "core/sharing/share_board.h"

namespace sampan::core {

/// What a handle says about its memory.
struct FabricHandle {
  static constexpr std::size_t kBytes = 128;
  using Bytes = std::array<std::byte, kBytes>;

  HostIdentity host;
  CellAddress cell;  ///< of the owner; its secret has 128 random bits
  std::uint64_t memory_bytes = 0;
  PeerAddress address;  ///< where the owner listens; version 0: nowhere

  /// With a checksum, so that a damaged handle is recognised.
  Bytes Encode() const;
  /// Refuses bytes that are no handle, or a damaged one (107000).
  static Result<FabricHandle> Decode(std::span<const std::byte, kBytes> bytes);
};

}  // namespace sampan::core
