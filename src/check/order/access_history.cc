// What queued work has done with an allocation, as far as the host was not told that it is over.
#include "check/order/access_history.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sampan::check {
Conflict AccessHistory::FindOpen(const OrderClock& host) const noexcept {
  for (const Lane& lane : lanes_) {
    const std::uint64_t known = host.At(lane.queue);
    if (lane.newest <= known) continue;
    Conflict open;
    const auto is_open = [&](const Origin& origin, const Range& range) {
      if (origin.site->number <= known) return false;
      open = {origin.site.get(), origin.all, range, lane.use, origin.entry};
      return true;
    };
    constexpr Range kAll{0, std::numeric_limits<std::uint64_t>::max()};
    if (lane.pieces.AnyOf(kAll, [&](const auto& piece) { return is_open(piece.value, piece.range); }))
      return open;
    for (const RowsPiece& rows : lane.rows) {
      if (is_open(rows.origin, rows.shape.range)) return open;
    }
  }
  return {};
}

AccessHistory::Lane& AccessHistory::LaneOf(std::uint64_t queue, Use use) {
  const auto found = std::find_if(lanes_.begin(), lanes_.end(),
                                  [&](const Lane& lane) { return lane.queue == queue && lane.use == use; });
  if (found != lanes_.end()) return *found;
  Lane& lane = lanes_.emplace_back();
  lane.queue = queue;
  lane.use = use;
  return lane;
}

void AccessHistory::Add(const TaskAccess& access, const SharedSite& site) {
  Lane& lane = LaneOf(site->queue.number, access.use);
  lane.newest = std::max(lane.newest, site->number);
  lane.oldest = std::min(lane.oldest, site->number);
  if (lane.pieces.size() >= kMaxPieces) lane.pieces.clear();
  if (lane.rows.size() >= kMaxRows) lane.rows.clear();
  Origin origin{site, access.shape.range, access.entry};
  if (!access.shape.is_rows()) return lane.pieces.Put(access.shape.range, std::move(origin));
  // A later copy with the same rows replaces the earlier one.
  std::erase_if(lane.rows, [&](const RowsPiece& rows) {
    return rows.shape.range.begin == access.shape.range.begin &&
           rows.shape.range.end == access.shape.range.end && rows.shape.pitch == access.shape.pitch &&
           rows.shape.width <= access.shape.width;
  });
  lane.rows.push_back({access.shape, std::move(origin)});
}

void AccessHistory::ForgetQueue(std::uint64_t queue) {
  std::erase_if(lanes_, [&](const Lane& lane) { return lane.queue == queue; });
}

void AccessHistory::Forget(const OrderClock& host) {
  std::erase_if(lanes_, [&](const Lane& lane) { return lane.newest <= host.At(lane.queue); });
  for (Lane& lane : lanes_) {
    const std::uint64_t known = host.At(lane.queue);
    if (known < lane.oldest) continue;
    lane.oldest = lane.newest;
    const auto forgets = [&](const Origin& origin) {
      const std::uint64_t task = origin.site->number;
      if (task > known) lane.oldest = std::min(lane.oldest, task);
      return task <= known;
    };
    lane.pieces.EraseIf([&](const auto& piece) { return forgets(piece.value); });
    std::erase_if(lane.rows, [&](const RowsPiece& rows) { return forgets(rows.origin); });
  }
}

}  // namespace sampan::check
