// Bandwidth over size: merges similar copies.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace sampan::tool {

/// Copies of one kind whose sizes and rates differ by less than a tenth.
struct RateDot {
  std::size_t copies = 0;
  std::uint64_t bytes = 0;
  std::int64_t ns = 0;
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = 0;
  double slowest = 0;           ///< bytes per nanosecond
  std::int64_t connection = 0;  ///< of the slowest
};

/// Takes any number of copies and keeps one dot for each kind, size and rate that there is.
class ReportRates {
 public:
  /// A kind, such as "host to device", has a number that the caller gives it.
  void Add(std::uint32_t kind, std::uint64_t bytes, std::int64_t ns, std::int64_t connection);

  /// By kind.
  const std::map<std::tuple<std::uint32_t, int, int>, RateDot>& dots() const { return dots_; }

 private:
  std::map<std::tuple<std::uint32_t, int, int>, RateDot> dots_;
};

}  // namespace sampan::tool
