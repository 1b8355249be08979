// The network of peers: one thread that serves what this process lends and sends what it copies.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "backend/api/peer_network.h"
#include "backend/fabric/gate/gate.h"
#include "backend/fabric/links/import_link.h"
#include "backend/fabric/links/offer.h"
#include "backend/fabric/links/serve_link.h"
#include "backend/fabric/provider/port.h"
#include "base/network/interface.h"
#include "base/system/descriptor.h"
#include "base/threads/threads.h"

namespace sampan::fabric {

struct NetworkOptions {
  InterfaceWish interface;
  std::chrono::milliseconds limit{3000};  ///< a peer that does not answer for this long is lost
};

/// Thread-safe. Its thread and sockets exist from the first Listen or Import on. The thread that has the turn
/// works on the network: the network's own, or one that waits for a short transfer.
class Network final : public PeerNetwork {
 public:
  /// Connections that others may have to this process. One more is refused.
  static constexpr std::size_t kMaxServed = 1024;
  /// Importers between the gate and libfabric's listener. Later ones try again.
  static constexpr std::size_t kMaxExpected = 64;

  explicit Network(NetworkOptions options) : options_(std::move(options)) {}
  ~Network() override;

  Result<PeerAddress> Listen() override;
  void Lend(std::uint32_t cell, const std::array<std::uint64_t, 2>& secret,
            std::shared_ptr<LentMemory> memory) override;
  void TakeBack(std::uint32_t cell) noexcept override {
    TakeBack(cell, HasTurn() ? Deadline{} : TakeBackDeadline());
  }
  /// Waits for bytes that move now, at most until `until`. Deadline{}: the caller has the turn of a
  /// network and never waits.
  void TakeBack(std::uint32_t cell, Deadline until) noexcept;
  Deadline TakeBackDeadline() const { return Clock::now() + options_.limit; }
  /// Returns true if this thread has the turn.
  bool HasTurn() const { return turn_owner_.load() == std::this_thread::get_id(); }
  Result<std::shared_ptr<PeerMemory>> Import(const PeerName& name) override;
  /// When its thread looks for overdue answers at the latest. Long ago while it is awake.
  Deadline sleeps_until() const { return sleeps_until_.load(); }

 private:
  class Imported;

  /// Opens the port and starts the thread.
  Status Start();
  enum class By { kAny, kOwnThread };
  /// kAny: this thread runs it, if the turn is free.
  void Post(std::function<void()> command, By by = By::kAny);
  void Wake();

  void Loop() noexcept;
  /// Works on the network while it waits for `enough()`, for a short time at most.
  void Help(const std::function<bool()>& enough) noexcept;
  /// Returns false if another thread has the turn.
  bool TryHelp(const std::function<bool()>& enough) noexcept;

  // With the turn.
  /// Does what the signs of the port ask for, and what is due. Returns true if nothing is left to do.
  bool Work(std::uint32_t signs);
  /// Returns true if there were some.
  bool RunCommands();
  void ReadCompletions();
  /// An import is to answer within the limit from now on.
  void ExpectAnswer() { overdue_at_ = std::min(overdue_at_, Clock::now() + options_.limit); }
  void FailOverdue();
  /// Ends an import that no caller uses any more.
  void Drop(std::uint64_t import);

  // With the turn, for the owner's side.
  /// Ends the connections that move bytes of the offer now.
  void BreakPinned(const Offer& offer);
  Status OpenGate(PeerAddress& address);
  void ServeCallers();
  void OnRequest(fi_info& info, std::span<const std::byte> data);
  /// Answers a caller of the gate.
  Welcome Judge(const Hello& hello, const Challenge& challenge, const Proof& proof, const PeerAddress& from);
  /// Checks the proof. Returns the code of a refusal, or kCrowded.
  std::int32_t Check(const Hello& hello, const Challenge& challenge, const Proof& proof,
                     std::shared_ptr<Offer>& offer, PeerMemoryFacts& facts);
  /// Lets libfabric's listener hear the processes that are expected.
  bool AdmitExpected();
  void ForgetLate();
  void BuryBroken();

  const NetworkOptions options_;
  std::mutex starting_mutex_;
  std::optional<Library> library_;
  std::unique_ptr<Port> port_;
  std::optional<PeerAddress> address_;  // where it listens
  Thread thread_;

  std::mutex turn_;  // the right to use the port and the links
  std::atomic<std::thread::id> turn_owner_{};
  class Turn;

  std::mutex commands_mutex_;
  std::vector<std::function<void()>> commands_;
  Descriptor wake_;
  std::atomic<bool> stopping_{false};
  std::atomic<Deadline> sleeps_until_{Deadline{}};  // long ago while the thread is awake

  std::mutex offers_mutex_;
  std::map<std::uint32_t, std::shared_ptr<Offer>> offers_;  // by cell

  // With the turn.
  std::map<std::uint64_t, std::unique_ptr<ImportLink>> imports_;
  std::unordered_map<const ServeLink*, std::unique_ptr<ServeLink>> served_;
  ServeLink::Broken broken_;
  ClosedEndpoints closed_;
  Deadline overdue_at_ = kNever;  // no answer of an import is overdue before
  std::optional<Gate> gate_;
  Deadline callers_at_ = kNever;   // the gate has something to do
  std::uint16_t fabric_port_ = 0;  // of libfabric's listener
  /// An importer that has proven that it knows the secret, and connects now.
  struct Expected {
    Key ticket;
    PeerAddress from;
    std::shared_ptr<Offer> offer;
    Deadline until;
  };
  std::vector<Expected> expected_;
  std::atomic<std::uint64_t> next_import_{1};
};

}  // namespace sampan::fabric
