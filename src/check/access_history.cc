// What queued work has done with an allocation, as far as the host was not told that it is over.
#include "check/access_history.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sampan::check {
Conflict AccessHistory::FindOpen(const OrderClock& host) const noexcept {
  for (const Lane& lane : lanes_) {
    const std::uint64_t known = host.At(lane.queue);
    if (lane.newest <= known) continue;
    for (const auto& [begin, piece] : lane.pieces) {
      if (piece.site->number > known)
        return {piece.site.get(), piece.all, {begin, piece.end}, lane.use, piece.entry};
    }
    for (const RowsPiece& rows : lane.rows) {
      if (rows.piece.site->number > known)
        return {rows.piece.site.get(), rows.piece.all, rows.shape.range, lane.use, rows.piece.entry};
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

void AccessHistory::Put(Lane& lane, const Range& range, Piece piece) {
  auto at = lane.pieces.upper_bound(range.begin);
  if (at != lane.pieces.begin()) {
    const auto before = std::prev(at);
    const std::uint64_t end = before->second.end;
    if (end > range.end) lane.pieces.emplace(range.end, before->second);
    if (end > range.begin) before->second.end = range.begin;
    if (before->second.end <= before->first) lane.pieces.erase(before);
    at = lane.pieces.lower_bound(range.begin);
  }
  while (at != lane.pieces.end() && at->first < range.end) {
    if (at->second.end > range.end) lane.pieces.emplace(range.end, at->second);
    at = lane.pieces.erase(at);
  }
  piece.end = range.end;
  lane.pieces.insert_or_assign(range.begin, std::move(piece));
}

void AccessHistory::Add(const TaskAccess& access, const SharedSite& site) {
  Lane& lane = LaneOf(site->queue.number, access.use);
  lane.newest = std::max(lane.newest, site->number);
  if (lane.pieces.size() >= kMaxPieces) lane.pieces.clear();
  if (lane.rows.size() >= kMaxRows) lane.rows.clear();
  Piece piece{access.shape.range.end, access.entry, site, access.shape.range};
  if (!access.shape.is_rows()) return Put(lane, access.shape.range, std::move(piece));
  // A later copy with the same rows replaces the earlier one.
  std::erase_if(lane.rows, [&](const RowsPiece& rows) {
    return rows.shape.range.begin == access.shape.range.begin &&
           rows.shape.range.end == access.shape.range.end && rows.shape.pitch == access.shape.pitch &&
           rows.shape.width <= access.shape.width;
  });
  lane.rows.push_back({access.shape, std::move(piece)});
}

void AccessHistory::Forget(const OrderClock& host) {
  std::erase_if(lanes_, [&](const Lane& lane) { return lane.newest <= host.At(lane.queue); });
  for (Lane& lane : lanes_) {
    const std::uint64_t known = host.At(lane.queue);
    if (known == 0) continue;
    std::erase_if(lane.pieces, [&](const auto& piece) { return piece.second.site->number <= known; });
    std::erase_if(lane.rows, [&](const RowsPiece& rows) { return rows.piece.site->number <= known; });
  }
}

}  // namespace sampan::check
