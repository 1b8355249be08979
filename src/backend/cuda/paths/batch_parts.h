// How many entries each of the driver's batch calls takes.
#pragma once

#include <algorithm>
#include <cstddef>

namespace sampan::cuda {

/// The driver's batch call copies nothing before it has prepared all entries, at 0.5 to 0.9 microseconds
/// each. In growing parts, it prepares each part while the previous one is copied. The GPU then waits for the
/// first entry only.
class BatchParts {
 public:
  /// Driver 580 loses the GPU, or crashes, in one of three calls with 3000 entries of odd lengths. With up to
  /// 1024 entries it never did.
  static constexpr std::size_t kMaxEntries = 512;

  /// The link carries about so many bytes while the driver prepares an entry. Parts of shorter entries are
  /// never ready in time.
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
