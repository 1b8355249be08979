// A notify: a binary signal between streams of one or several processes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "backend/api/peer_network.h"
#include "base/error/status.h"
#include "base/platform_bridge.h"
#include "core/objects/id_pool.h"
#include "core/sharing/foreign_boards.h"
#include "core/sharing/network_keys.h"
#include "core/sharing/share_board.h"
#include "core/streams/stream.h"

namespace sampan::core {

/// Thread-safe. Its handle and queued tasks share it. The signal is in a cell on the board of its creator.
/// That process may live on another host.
class Notify {
 public:
  Notify(std::shared_ptr<OwnCell> cell, IdLease id);
  explicit Notify(std::shared_ptr<ForeignCell> cell) : foreign_(std::move(cell)) {}
  explicit Notify(std::shared_ptr<PeerMemory> peer) : peer_(std::move(peer)) {}

  /// Sets it in stream order. Setting it twice has the effect of setting it once.
  Status Record(Stream& stream, std::shared_ptr<SignalLink> link = nullptr) const;
  /// Holds the stream until it is set, and clears it. Refused for another host's. The limit counts from the
  /// time when the stream gets here. With a link, both fail if it is broken, and a record then sets nothing.
  Status WaitIn(Stream& stream, std::chrono::nanoseconds limit,
                std::shared_ptr<SignalLink> link = nullptr) const;
  /// Clears it, not in stream order. It must not be another host's.
  void Reset() noexcept;
  /// Refuses another host's.
  Status MayReset() const { return peer_ == nullptr ? Status() : OnlyItsOwner("clear"); }
  /// Lets processes of other hosts set it, if its cell admits them.
  Status Lend(const NetworkKeys& keys);

  std::uint32_t id() const { return peer_ != nullptr ? peer_->facts().attribute : cell().number; }
  bool imported() const { return own_ == nullptr; }
  /// Null if imported: only its owner can share it.
  const std::shared_ptr<OwnCell>& own_cell() const { return own_; }

 private:
  SharedCell& cell() const { return own_ != nullptr ? **own_ : **foreign_; }
  /// The cell's word. The pointer keeps it mapped.
  std::shared_ptr<SleepWord> SharedWord() const;
  Status OnlyItsOwner(std::string_view can) const;

  std::shared_ptr<OwnCell> own_;
  std::shared_ptr<ForeignCell> foreign_;
  std::shared_ptr<PeerMemory> peer_;
  std::shared_ptr<const IdLease> id_;
  std::mutex mutex_;
  std::unique_ptr<Loan> loan_;  // under the mutex
};

}  // namespace sampan::core
