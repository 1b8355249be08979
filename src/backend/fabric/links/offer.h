// Memory that this process lends to processes of other hosts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "backend/api/peer_network.h"
#include "base/network/keyed_hash.h"

namespace sampan::fabric {

/// Thread-safe. Requests of peers and taking it back exclude each other: a request moves its bytes under the
/// lock, or pins the memory while the system moves them.
struct Offer {
  Offer(const Key& handle_secret, std::shared_ptr<LentMemory> lent)
      : secret(handle_secret), memory(std::move(lent)) {}

  const Key secret;
  std::mutex mutex;
  std::condition_variable unpinned;
  std::shared_ptr<LentMemory> memory;  // null once it was taken back
  std::byte* begin = nullptr;          // once it was mapped
  std::size_t pins = 0;                // transfers that touch it now
};

}  // namespace sampan::fabric
