// A notify: a binary signal between streams, of one process or of several.
#pragma once

#include <cstdint>
#include <memory>

#include "base/error/status.h"
#include "base/platform_bridge.h"
#include "core/objects/id_pool.h"
#include "core/objects/stream.h"
#include "core/sharing/foreign_boards.h"
#include "core/sharing/share_board.h"

namespace sampan {

/// Thread-safe. Shared by its handle and by the tasks queued on it. The signal lies in a cell of the board of
/// the process that made it.
class Notify {
 public:
  Notify(std::shared_ptr<OwnCell> cell, IdLease id);
  explicit Notify(std::shared_ptr<ForeignCell> cell) : foreign_(std::move(cell)) {}

  /// Sets it when the stream comes by; setting it twice is setting it once.
  Status Record(Stream& stream, std::shared_ptr<const SignalLink> link = nullptr) const;
  /// With a link, both fail once it does not hold any more, and a record then sets nothing.
  /// Holds the stream until it is set, and takes it back. The limit counts from when the stream stands here.
  Status WaitIn(Stream& stream, std::chrono::nanoseconds limit,
                std::shared_ptr<SignalLink> link = nullptr) const;
  void Reset() noexcept;

  std::uint32_t id() const { return cell().number; }
  bool imported() const { return foreign_ != nullptr; }
  /// Null for an imported one, which is its owner's to share.
  const std::shared_ptr<OwnCell>& own_cell() const { return own_; }

 private:
  SharedCell& cell() const { return own_ != nullptr ? **own_ : **foreign_; }
  /// The cell's word. The pointer keeps it mapped.
  std::shared_ptr<SleepWord> SharedWord() const;

  std::shared_ptr<OwnCell> own_;
  std::shared_ptr<ForeignCell> foreign_;
  std::shared_ptr<const IdLease> id_;
};

}  // namespace sampan
