// Divides a batch into parts, one for each of the driver's batch calls.
#pragma once

#include <algorithm>
#include <cstddef>

namespace sampan::cuda {

/// The driver's batch call copies nothing before it has prepared all entries, at 0.5 to 0.9 microseconds
/// each. With growing parts, it prepares a part while the GPU copies the previous one. The GPU then waits for
/// the first entry only.
class BatchParts {
 public:
  /// Calls with 128 entries copy faster than calls with 512: 53.6 instead of 50.3 GB/s of 64 KiB (bench_gpu).
  /// Driver 580 loses the GPU, or crashes, in one of three calls with 3000 entries of odd lengths. With up to
  /// 1024 entries it never does.
  static constexpr std::size_t kMaxEntries = 128;

  /// The link transfers about this many bytes while the driver prepares an entry. Parts of shorter entries
  /// are never ready in time.
  static constexpr std::size_t kMinEntryBytes = std::size_t{32} << 10;

  /// A batch of at least one entry. Without `in_parts`, all entries are one part, up to kMaxEntries.
  BatchParts(std::size_t entries, std::size_t bytes, bool in_parts)
      : left_(entries),
        part_(in_parts ? 1 : kMaxEntries),
        growth_(std::clamp(bytes / entries / kMinEntryBytes, kMinGrowth, kMaxGrowth)) {}

  /// The number of entries in the next part. There must be entries left.
  std::size_t Next() {
    const bool is_last = left_ <= kLastPartOf * part_;
    const std::size_t part = std::min(is_last ? left_ : part_, kMaxEntries);
    left_ -= part;
    part_ = std::min(part_ * growth_, kMaxEntries);
    return part;
  }

 private:
  /// Fewer parts are better, as long as each is ready before the previous one is copied.
  static constexpr std::size_t kMinGrowth = 2, kMaxGrowth = 8;
  /// The rest becomes one part if it is not larger than this many parts.
  static constexpr std::size_t kLastPartOf = 2;

  std::size_t left_, part_;
  const std::size_t growth_;
};

}  // namespace sampan::cuda
