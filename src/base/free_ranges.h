// Which parts of a range are free.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace sampan {

/// Hands out parts of [0, bytes) and takes them back; neighbours that are free become one. Taking may throw
/// std::bad_alloc with nothing changed; giving back needs no memory. Not thread-safe.
class FreeRanges {
 public:
  explicit FreeRanges(std::size_t bytes) : bytes_(bytes) { free_.emplace(0, bytes); }

  /// The offset of an aligned part, looked for first behind the last one taken: a part given back is not soon
  /// handed out again.
  std::optional<std::size_t> TakeNext(std::size_t bytes, std::size_t alignment);
  /// The offset of a part from the smallest free range that holds it: what is taken stays close together.
  std::optional<std::size_t> TakeSmallest(std::size_t bytes);
  void Return(std::size_t offset, std::size_t bytes) noexcept;

  bool AllFree() const { return free_.size() == 1 && free_.begin()->second == bytes_; }

 private:
  using Ranges = std::map<std::size_t, std::size_t>;  // offset -> bytes

  /// Cuts the part out of the free range that holds it. Keeps a node by for its return.
  void Cut(Ranges::iterator range, std::size_t offset, std::size_t bytes);
  static Ranges::node_type MakeNode();

  const std::size_t bytes_;
  Ranges free_;
  std::vector<Ranges::node_type> spare_nodes_;  // one per part handed out
  std::size_t next_offset_ = 0;
};

}  // namespace sampan
