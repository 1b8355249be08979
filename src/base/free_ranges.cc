// Which parts of a range are free.
#include "base/free_ranges.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sampan {

std::optional<std::size_t> FreeRanges::TakeNext(std::size_t bytes, std::size_t alignment) {
  const auto try_range = [&](Ranges::iterator range, std::size_t from) -> std::optional<std::size_t> {
    const auto [start, length] = *range;
    const std::size_t aligned = (std::max(start, from) + alignment - 1) / alignment * alignment;
    const std::size_t before = aligned - start;
    if (length < before || length - before < bytes) return std::nullopt;
    Cut(range, aligned, bytes);
    next_offset_ = aligned + bytes;
    return aligned;
  };
  // From the end of the last one taken, which mostly lies inside a free range, to the end; then from the
  // beginning.
  auto first = free_.upper_bound(next_offset_);
  if (first != free_.begin()) --first;
  for (auto range = first; range != free_.end(); ++range) {
    if (const auto taken = try_range(range, next_offset_)) return taken;
  }
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (const auto taken = try_range(range, 0)) return taken;
  }
  return std::nullopt;
}

std::optional<std::size_t> FreeRanges::TakeSmallest(std::size_t bytes) {
  auto best = free_.end();
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (range->second >= bytes && (best == free_.end() || range->second < best->second)) best = range;
  }
  if (best == free_.end()) return std::nullopt;
  const std::size_t offset = best->first;
  Cut(best, offset, bytes);
  return offset;
}

FreeRanges::Ranges::node_type FreeRanges::MakeNode() {
  Ranges one;
  one.emplace(0, 0);
  return one.extract(one.begin());
}

void FreeRanges::Cut(Ranges::iterator range, std::size_t offset, std::size_t bytes) {
  const auto [start, length] = *range;
  const std::size_t before = offset - start;
  const std::size_t behind = length - before - bytes;
  // All the memory that is needed, before anything changes.
  spare_nodes_.reserve(spare_nodes_.size() + 1);
  auto for_return = MakeNode();
  Ranges::node_type rest = before > 0 && behind > 0 ? MakeNode() : Ranges::node_type();
  spare_nodes_.push_back(std::move(for_return));
  if (before > 0) {
    range->second = before;
  } else {
    rest = free_.extract(range);
  }
  if (behind == 0) return;
  rest.key() = offset + bytes;
  rest.mapped() = behind;
  free_.insert(std::move(rest));
}

void FreeRanges::Return(std::size_t offset, std::size_t bytes) noexcept {
  auto node = std::move(spare_nodes_.back());
  spare_nodes_.pop_back();
  const auto behind = free_.lower_bound(offset);
  if (behind != free_.begin()) {
    const auto before = std::prev(behind);
    if (before->first + before->second == offset) {
      before->second += bytes;
      if (behind != free_.end() && offset + bytes == behind->first) {
        before->second += behind->second;
        free_.erase(behind);
      }
      return;
    }
  }
  if (behind != free_.end() && offset + bytes == behind->first) {
    bytes += behind->second;
    node = free_.extract(behind);
  }
  node.key() = offset;
  node.mapped() = bytes;
  free_.insert(std::move(node));
}

}  // namespace sampan
