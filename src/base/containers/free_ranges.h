// Which parts of some ranges are free.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "base/containers/range_tree.h"

namespace sampan {

/// Hands out parts of ranges that were added, and takes them back. Neighbours that are free become one. The
/// time of each call grows with the logarithm of the number of free ranges. Adding and taking may throw
/// std::bad_alloc with nothing changed; returning needs no memory. Not thread-safe.
class FreeRanges {
 public:
  struct Range {
    std::size_t begin = 0, bytes = 0;
    std::size_t end() const { return begin + bytes; }
    bool operator==(const Range&) const = default;
  };
  using Align = RangeTree::Align;

  /// The alignment of parts that are taken with Align::kAligned: a power of two.
  explicit FreeRanges(std::size_t alignment = 1) : tree_(alignment) {}

  void Add(const Range& range);
  /// Takes a range out that is free as a whole.
  void Remove(const Range& range) noexcept;

  /// The first part behind the last one taken, round robin: a returned part is not reused soon.
  std::optional<std::size_t> TakeNext(std::size_t bytes, Align align = Align::kAnywhere);
  /// The part with the lowest address: what is taken stays close together.
  std::optional<std::size_t> TakeLowest(std::size_t bytes);
  /// Gives a part back, which joins its free neighbours within the range that was added. The result is the
  /// free range that it is part of now.
  Range Return(const Range& part, const Range& within) noexcept;

 private:
  using Node = RangeTree::Node;

  /// Makes sure that there are nodes for one more free range.
  void Reserve();
  void Cut(Node& node, const Range& part) noexcept;
  void InsertFree(const Range& range) noexcept;
  void Drop(Node& node) noexcept;

  RangeTree tree_;
  // There is a node for each part handed out and one for each range: free ranges lie between parts.
  std::deque<Node> nodes_;
  std::vector<Node*> spare_;  // has room for all nodes
  std::size_t needed_ = 0;
  std::size_t next_ = 0;
};

}  // namespace sampan
