// How many entries each of the driver's batch calls takes.
#pragma once

#include <algorithm>
#include <cstddef>

namespace sampan::cuda {

/// The driver's call begins to copy when it has seen to all of its entries, which takes it 0.5 to 0.9
/// microseconds each. In parts that grow, it sees to each while the one before is copied, and only the first
/// entry is waited for.
class BatchParts {
 public:
  /// Driver 580 loses the GPU, or crashes, in one of three calls with 3000 entries of odd lengths; with up to
  /// 1024 it never did.
  static constexpr std::size_t kMaxEntries = 512;

  /// The link carries about so many bytes while the driver sees to an entry: parts of shorter ones are never
  /// ready in time.
  static constexpr std::size_t kMinEntryBytes = std::size_t{32} << 10;

  /// Of at least one entry. All in one part, as far as there may be so many, unless it is to be in parts.
  BatchParts(std::size_t entries, std::size_t bytes, bool in_parts)
      : left_(entries),
        part_(in_parts ? 1 : kMaxEntries),
        growth_(std::clamp(bytes / entries / kMinEntryBytes, kMinGrowth, kMaxGrowth)) {}

  /// How many of those that are left; there must be some.
  std::size_t Next() {
    const bool is_last = left_ <= kLastPartOf * part_;
    const std::size_t part = std::min(is_last ? left_ : part_, kMaxEntries);
    left_ -= part;
    part_ = std::min(part_ * growth_, kMaxEntries);
    return part;
  }

 private:
  /// Fewer parts are better, as long as each is ready before the one before it has been copied.
  static constexpr std::size_t kMinGrowth = 2, kMaxGrowth = 8;
  /// What is left is one part if it is no more than so many parts would be.
  static constexpr std::size_t kLastPartOf = 2;

  std::size_t left_, part_;
  const std::size_t growth_;
};

}  // namespace sampan::cuda
