// Which bytes of an allocation were ever written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "check/order/shape.h"

namespace sampan::check {

/// Ranges that are joined where they meet. Beyond a limit gaps count as written: a mistake may be missed,
/// none is invented. Not thread-safe.
class WrittenBytes {
 public:
  void Add(const Shape& shape) {
    const std::uint64_t rows = shape.is_rows() ? (shape.range.bytes() + shape.pitch - 1) / shape.pitch : 1;
    if (rows == 1 || rows > kMaxRanges / 4) return AddRange(shape.range);
    for (std::uint64_t row = 0; row < rows; ++row) {
      const std::uint64_t begin = shape.range.begin + row * shape.pitch;
      AddRange({begin, begin + shape.width});
    }
  }
  /// True if one of the bytes was written.
  bool Any(const Range& range) const {
    const auto behind = ranges_.lower_bound(range.end);
    return behind != ranges_.begin() && std::prev(behind)->second > range.begin;
  }

 private:
  static constexpr std::size_t kMaxRanges = 4096;

  void AddRange(const Range& range) {
    std::uint64_t begin = range.begin, end = range.end;
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second >= begin) {
      --at;
      if (at->second >= end) return;
      begin = at->first;
    }
    while (at != ranges_.end() && at->first <= end) {
      end = at->second > end ? at->second : end;
      at = ranges_.erase(at);
    }
    ranges_.emplace(begin, end);
    if (ranges_.size() > kMaxRanges) {
      const Range all{ranges_.begin()->first, std::prev(ranges_.end())->second};
      ranges_.clear();
      ranges_.emplace(all.begin, all.end);
    }
  }

  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin to end
};

}  // namespace sampan::check
