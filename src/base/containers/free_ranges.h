// Keeps track of which parts of a set of address ranges are free.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "base/containers/range_tree.h"

namespace sampan {

/// Hands out parts of the added ranges and takes them back. Free neighbours are merged. Each call takes
/// logarithmic time in the number of free ranges. Add and Take... may throw std::bad_alloc, and then change
/// nothing. Return never allocates. Not thread-safe.
class FreeRanges {
 public:
  struct Range {
    std::size_t begin = 0, bytes = 0;
    std::size_t end() const { return begin + bytes; }
    bool operator==(const Range&) const = default;
  };
  using Align = RangeTree::Align;

  /// `alignment` applies to parts taken with Align::kAligned. It is a power of two.
  explicit FreeRanges(std::size_t alignment = 1) : tree_(alignment) {}

  void Add(const Range& range);
  /// Removes a range. All of it must be free.
  void Remove(const Range& range) noexcept;

  /// Takes the first free part behind the last one taken (round robin), so that a returned part is reused
  /// late.
  std::optional<std::size_t> TakeNext(std::size_t bytes, Align align = Align::kAnywhere);
  /// Takes the free part with the lowest address, so that parts stay close together.
  std::optional<std::size_t> TakeLowest(std::size_t bytes);
  /// Gives a part back and merges it with its free neighbours, but only inside `within`, the range that was
  /// added. Returns the merged free range.
  Range Return(const Range& part, const Range& within) noexcept;

 private:
  using Node = RangeTree::Node;

  /// Makes sure that one more free range has a node.
  void Reserve();
  void Cut(Node& node, const Range& part) noexcept;
  void InsertFree(const Range& range) noexcept;
  void Drop(Node& node) noexcept;

  RangeTree tree_;
  // Free ranges lie between parts. So one node for each part and one for each range are enough.
  std::deque<Node> nodes_;
  std::vector<Node*> spare_;  // reserved for all nodes
  std::size_t needed_ = 0;
  std::size_t next_ = 0;
};

}  // namespace sampan
