// What queued work has done with an allocation, as far as the host was not told that it is over.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "backend/api/queue_label.h"
#include "check/order_clock.h"
#include "check/shape.h"

namespace sampan::check {

/// Where in the program a task came from.
struct TaskSite {
  QueueLabel queue;
  std::uint64_t number = 0;    ///< in the queue
  const char* call = nullptr;  ///< the public function
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;
};
using SharedSite = std::shared_ptr<const TaskSite>;

enum class Use : std::uint8_t {
  kRead,
  kWrite,
  kOperand,  ///< reads a descriptor or a cell with an address
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

  /// The first access of another queue, or of another entry of the same task, to the same bytes with no order
  /// between them. `before` is what comes before the new access; `queue` 0 is the host.
  Conflict FindConflict(const TaskAccess& access, std::uint64_t queue, std::uint64_t task,
                        const OrderClock& before) const noexcept;
  /// The first access that the host was not told of.
  Conflict FindOpen(const OrderClock& host) const noexcept;
  void Add(const TaskAccess& access, const SharedSite& site);
  /// Drops what the host knows.
  void Forget(const OrderClock& host);
  bool empty() const { return lanes_.empty(); }

 private:
  struct Piece {
    std::uint64_t end = 0;
    std::int32_t entry = -1;
    SharedSite site;
    Range all;  // of the access that it was cut from
  };
  struct RowsPiece {
    Shape shape;
    Piece piece;
  };
  /// The accesses of one queue in one way.
  struct Lane {
    std::uint64_t queue = 0;
    Use use = Use::kRead;
    std::uint64_t newest = 0;               // task
    std::map<std::uint64_t, Piece> pieces;  // by their begin; they do not overlap
    std::vector<RowsPiece> rows;
  };

  Lane& LaneOf(std::uint64_t queue, Use use);
  static Conflict Search(const Lane& lane, const Shape& shape, std::uint64_t known, std::uint64_t only,
                         std::int32_t entry) noexcept;
  static void Put(Lane& lane, const Range& range, Piece piece);

  std::vector<Lane> lanes_;
};

}  // namespace sampan::check
