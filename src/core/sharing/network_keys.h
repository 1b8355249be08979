// Lets processes of other hosts import by key what a cell shares.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backend/api/peer_network.h"
#include "base/error/status.h"
#include "core/sharing/lent_physical.h"
#include "core/sharing/share_board.h"

namespace sampan::core {

/// For messages: why there is no network.
inline constexpr const char* kNoPeerNetwork =
    "only emulated devices reach other hosts (SAMPAN_BACKEND=emulated), in a build with libfabric's headers";

/// Thread-safe. Without a network, or on chips that share with one host only, all keys are for this host.
class NetworkKeys {
 public:
  /// `network` may be null.
  NetworkKeys(PeerNetwork* network, bool chip_has_fabric)
      : network_(chip_has_fabric ? network : nullptr), chip_has_fabric_(chip_has_fabric) {}

  /// The key of a cell. If this process can listen, it does from then on, and the key has its address.
  std::string KeyOf(const OwnCell& cell, SharedKind kind) const;
  /// Lets others import what the cell shares until the loan is destroyed.
  Result<std::unique_ptr<Loan>> Lend(const OwnCell& cell, std::shared_ptr<LentMemory> lent) const;
  /// Refuses chips without servers (207000).
  Status RequireServers() const;

  /// Where a key leads: a cell of this host, or an owner on another one.
  struct Target {
    CellAddress cell;
    std::optional<PeerName> elsewhere;
  };
  Result<Target> Find(const std::string& key, SharedKind kind) const;
  Result<std::shared_ptr<PeerMemory>> Import(const PeerName& name, SharedKind kind) const;

 private:
  PeerNetwork* const network_;
  const bool chip_has_fabric_;
};

}  // namespace sampan::core
