// Two networks side by side: long transfers use both.
#pragma once

#include <array>

#include "backend/fabric/network.h"

namespace sampan::fabric {

/// Thread-safe. One thread cannot send as fast as the system can: bench_hosts. So a process has two networks,
/// each with a thread, and an import has a connection of each. Short transfers use the first one.
class WideNetwork final : public PeerNetwork {
 public:
  explicit WideNetwork(const NetworkOptions& options) : first_(options), second_(options) {}

  Result<PeerAddress> Listen() override;
  void Lend(std::uint32_t cell, const std::array<std::uint64_t, 2>& secret,
            std::shared_ptr<LentMemory> memory) override;
  void TakeBack(std::uint32_t cell) noexcept override;
  Result<std::shared_ptr<PeerMemory>> Import(const PeerName& name) override;

 private:
  Network first_, second_;
};

}  // namespace sampan::fabric
