// The right to use the network's port and links.
#pragma once

#include <mutex>
#include <thread>
#include <utility>

#include "backend/fabric/network.h"

namespace sampan::fabric {

/// Waits for the turn.
class Network::Turn {
 public:
  explicit Turn(Network& network) : Turn(network, std::unique_lock(network.turn_)) {}
  Turn(Network& network, std::unique_lock<std::mutex> lock) : network_(network), lock_(std::move(lock)) {
    network_.turn_owner_.store(std::this_thread::get_id());
  }
  ~Turn() {
    // The network's thread destroys connections that ended in this turn. It may be asleep.
    if (!network_.closed_.empty() || !network_.broken_.empty()) network_.Wake();
    network_.turn_owner_.store({});
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Network& network_;
  const std::unique_lock<std::mutex> lock_;
};

}  // namespace sampan::fabric
