// Which bytes of an allocation an access touches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sampan::check {

/// Bytes of an allocation, by offset.
struct Range {
  std::uint64_t begin = 0, end = 0;

  bool Touches(const Range& other) const { return begin < other.end && other.begin < end; }
  bool Holds(const Range& other) const { return begin <= other.begin && other.end <= end; }
  std::uint64_t bytes() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// One range, or rows of it: row i is [begin + i * pitch, + width), and nothing between two rows is touched.
struct Shape {
  Range range;
  std::uint64_t pitch = 0, width = 0;  ///< 0: all of the range

  bool is_rows() const { return pitch != 0; }
  /// The first bytes that both have.
  std::optional<Range> Common(const Shape& other) const {
    if (!range.Touches(other.range)) return std::nullopt;
    if (!is_rows()) return other.CommonWith(range);
    if (!other.is_rows()) return CommonWith(other.range);
    const std::uint64_t first = FirstRow(other.range.begin);
    for (std::uint64_t row = first; range.begin + row * pitch < std::min(range.end, other.range.end); ++row) {
      const std::uint64_t begin = range.begin + row * pitch;
      if (const auto common = other.CommonWith({begin, begin + width})) return common;
    }
    return std::nullopt;
  }

 private:
  static Range Cut(const Range& one, const Range& other) {
    return {std::max(one.begin, other.begin), std::min(one.end, other.end)};
  }
  /// The first row that ends behind the offset.
  std::uint64_t FirstRow(std::uint64_t offset) const {
    return offset < range.begin + width ? 0 : (offset - range.begin - width) / pitch + 1;
  }
  std::optional<Range> CommonWith(const Range& other) const {
    if (!range.Touches(other)) return std::nullopt;
    if (!is_rows()) return Cut(range, other);
    const std::uint64_t begin = range.begin + FirstRow(other.begin) * pitch;
    const Range row{begin, begin + width};
    return begin < range.end && row.Touches(other) ? std::optional(Cut(row, other)) : std::nullopt;
  }
};

}  // namespace sampan::check
