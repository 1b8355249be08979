// Transfers with memory of other hosts, as observers see them.
#pragma once

#include <functional>
#include <memory>

#include "backend/api/peer_network.h"

namespace sampan::core {

/// Starts the transfer. Observers are told of its end before `done` is.
void StartObserved(const std::shared_ptr<PeerMemory>& peer, PeerTransfer transfer,
                   std::function<void(Status)> done) noexcept;

}  // namespace sampan::core
