// The network of peers: one thread that serves what this process lends and sends what it copies.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/api/peer_network.h"
#include "backend/fabric/handshake.h"
#include "backend/fabric/import_link.h"
#include "backend/fabric/interface.h"
#include "backend/fabric/port.h"
#include "backend/fabric/serve_link.h"
#include "base/system/descriptor.h"
#include "base/threads/threads.h"

namespace sampan::fabric {

struct NetworkOptions {
  InterfaceWish interface;
  std::chrono::milliseconds limit{3000};  ///< a peer that does not answer for this long is lost
};

/// Thread-safe. Its thread and sockets exist from the first Listen or Import on.
class Network final : public PeerNetwork {
 public:
  /// Connections that others may have to this process. One more is refused.
  static constexpr std::size_t kMaxServed = 1024;

  explicit Network(NetworkOptions options) : options_(std::move(options)) {}
  ~Network() override;

  Result<PeerAddress> Listen() override;
  void Lend(std::uint32_t cell, const std::array<std::uint64_t, 2>& secret,
            std::shared_ptr<LentMemory> memory) override;
  void TakeBack(std::uint32_t cell) noexcept override;
  Result<std::shared_ptr<PeerMemory>> Import(const PeerName& name) override;

 private:
  class Imported;

  /// Opens the port and starts the thread.
  Status Start();
  void Post(std::function<void()> command);

  // On the thread.
  void Loop() noexcept;
  void RunCommands();
  void OnEvent(ConnectionEvent& event);
  void OnRequest(fi_info& info, std::span<const std::byte> data);
  /// Checks the proof. Returns the code of a refusal.
  Code Admit(const Hello& hello, std::shared_ptr<Offer>& offer, PeerMemoryFacts& facts);
  ImportLink* ImportOf(fid_t endpoint);
  /// Ends an import that no caller uses any more.
  void Drop(std::uint64_t import);
  void BuryBroken();
  /// Fails what is overdue. Returns when to look again.
  Deadline FailOverdue();

  const NetworkOptions options_;
  std::mutex starting_mutex_;
  std::optional<Library> library_;
  std::unique_ptr<Port> port_;
  std::optional<CookieJar> cookies_;
  std::optional<PeerAddress> address_;  // where it listens
  Thread thread_;

  std::mutex commands_mutex_;
  std::vector<std::function<void()>> commands_;
  Descriptor wake_;
  std::atomic<bool> stopping_{false};

  std::mutex offers_mutex_;
  std::map<std::uint32_t, std::shared_ptr<Offer>> offers_;  // by cell

  // Of the thread.
  std::map<std::uint64_t, std::unique_ptr<ImportLink>> imports_;
  std::vector<std::unique_ptr<ServeLink>> served_;
  std::vector<std::unique_ptr<Endpoint>> closed_;
  std::atomic<std::uint64_t> next_import_{1};
};

}  // namespace sampan::fabric
