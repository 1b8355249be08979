// What queued work has done with an allocation, as far as the host was not told that it is over.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backend/api/queue_label.h"
#include "check/order/order_clock.h"
#include "check/order/piece_list.h"
#include "check/order/shape.h"

namespace sampan::check {

/// Where in the program a task came from.
struct TaskSite {
  QueueLabel queue;
  std::uint64_t number = 0;    ///< in the queue
  std::uint64_t serial = 0;    ///< among all tasks, in the sequence of their calls
  const char* call = nullptr;  ///< the public function
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;
};
using SharedSite = std::shared_ptr<const TaskSite>;

enum class Use : std::uint8_t {
  kRead,
  kWrite,
  kOperand,    ///< reads a descriptor or a cell with an address
  kWordWrite,  ///< writes a word that others may wait for: a signal, which needs no other order
  kWordWait,   ///< waits for one
};

/// One access of a task.
struct TaskAccess {
  std::uint64_t allocation = 0;
  Shape shape;
  Use use = Use::kRead;
  std::int32_t entry = -1;  ///< of a batch
};

/// An access that was made earlier, and the bytes that the new one has in common with it.
struct Conflict {
  const TaskSite* site = nullptr;  ///< null: no conflict
  Range all;                       ///< that the earlier one touched
  Range common;
  Use use = Use::kRead;
  std::int32_t entry = -1;
};

/// The accesses of queued work to one allocation. Not thread-safe. Later accesses of a queue replace its
/// earlier ones to the same bytes: what is not ordered after the earlier is not after the later either.
class AccessHistory {
 public:
  /// More pieces of one queue than this are forgotten: the mistake may be missed, none is invented.
  static constexpr std::size_t kMaxPieces = 65536, kMaxRows = 1024;

  /// The first access to the same bytes without an order, by another queue or another entry of the task.
  /// `before` is what comes before the new access; `queue` 0 is the host.
  Conflict FindConflict(const TaskAccess& access, std::uint64_t queue, std::uint64_t task,
                        const OrderClock& before) const noexcept {
    return FindConflict(access, queue, task, before, [](const TaskSite&) { return false; });
  }
  /// The same for an access that is judged late: `is_later(site)` is true for tasks that come after it.
  template <typename IsLater>
  Conflict FindConflict(const TaskAccess& access, std::uint64_t queue, std::uint64_t task,
                        const OrderClock& before, IsLater is_later) const {
    for (const Lane& lane : lanes_) {
      if (lane.use != Use::kWrite && access.use != Use::kWrite) continue;
      if (lane.use >= Use::kWordWrite || access.use >= Use::kWordWrite) continue;
      const bool own = lane.queue == queue;
      const std::uint64_t known = own ? 0 : before.At(lane.queue);
      if (own ? lane.newest != task || access.entry < 0 : lane.newest <= known) continue;
      const Conflict found = Search(lane, access.shape, known, own ? task : 0, access.entry, is_later);
      if (found.site != nullptr) return found;
    }
    return {};
  }
  /// The first access that the host was not told of.
  Conflict FindOpen(const OrderClock& host) const noexcept;
  void Add(const TaskAccess& access, const SharedSite& site);
  /// The queue is gone, and its work is over.
  void ForgetQueue(std::uint64_t queue);
  /// Drops what the host knows.
  void Forget(const OrderClock& host);
  bool empty() const { return lanes_.empty(); }

 private:
  /// Where a piece comes from.
  struct Origin {
    SharedSite site;
    Range all;  // of the access that it was cut from
    std::int32_t entry = -1;
  };
  struct RowsPiece {
    Shape shape;
    Origin origin;
  };
  /// The accesses of one queue in one way.
  struct Lane {
    std::uint64_t queue = 0;
    Use use = Use::kRead;
    std::uint64_t oldest = ~std::uint64_t{0}, newest = 0;  // tasks
    PieceList<Origin> pieces;
    std::vector<RowsPiece> rows;
  };

  Lane& LaneOf(std::uint64_t queue, Use use);
  /// `only`: the task whose other entries count alone; 0: every task behind `known`.
  template <typename IsLater>
  static Conflict Search(const Lane& lane, const Shape& shape, std::uint64_t known, std::uint64_t only,
                         std::int32_t entry, IsLater is_later) {
    Conflict found;
    const auto conflicts = [&](const Origin& origin, const Shape& earlier) {
      const std::uint64_t task = origin.site->number;
      const bool counts = only != 0 ? task == only && origin.entry != entry : task > known;
      const auto common = counts ? shape.Common(earlier) : std::nullopt;
      if (!common || is_later(*origin.site)) return false;
      found = {origin.site.get(), origin.all, *common, lane.use, origin.entry};
      return true;
    };
    const bool any = lane.pieces.AnyOf(
        shape.range, [&](const auto& piece) { return conflicts(piece.value, {piece.range}); });
    for (std::size_t i = 0; !any && i < lane.rows.size(); ++i) {
      if (conflicts(lane.rows[i].origin, lane.rows[i].shape)) break;
    }
    return found;
  }

  std::vector<Lane> lanes_;
};

}  // namespace sampan::check
