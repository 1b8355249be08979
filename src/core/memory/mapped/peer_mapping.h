// Mapped memory of another host: the processor and the engines cannot touch it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "backend/api/peer_network.h"
#include "base/error/text.h"
#include "core/memory/memory_registry.h"

namespace sampan::core {

/// A keeper of mapped memory, which may be another host's.
class PeerMapping : public MemoryKeeper {
 public:
  /// Null for memory of this host.
  virtual std::shared_ptr<PeerMemory> peer() const = 0;
};

/// The other host's memory that the allocation is; null for memory of this host. The caller has a use of it.
inline std::shared_ptr<PeerMemory> PeerOf(const MemoryRegistry& registry, const Allocation& allocation) {
  if (!allocation.facts.open_to_peers) return nullptr;  // only imports of fabric handles are
  const auto* const mapping = dynamic_cast<const PeerMapping*>(registry.KeeperOf(allocation).get());
  return mapping != nullptr ? mapping->peer() : nullptr;
}

/// Refuses memory of another host, for what only engines of this host can do. `more` may be null.
inline Status RefusePeer(const MemoryRegistry& registry, const AllocationUse& use, std::string_view what,
                         const std::vector<AllocationUse>* more = nullptr) {
  if (const auto peer = use ? PeerOf(registry, *use.get()) : nullptr) {
    return {Code::kFeatureNotSupport,
            Text(what, " cannot be done on memory of ", peer->Describe(), ": ", Describe(*use.get()))};
  }
  if (more == nullptr) return {};
  for (const AllocationUse& each : *more) {
    if (Status here = RefusePeer(registry, each, what); !here.ok()) return here;
  }
  return {};
}

}  // namespace sampan::core
