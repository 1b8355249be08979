// Bandwidth over size: merges similar copies.
#include "tools/sampan/report/report_rates.h"

#include <algorithm>
#include <cmath>

namespace sampan::tool {

void ReportRates::Add(std::uint32_t kind, std::uint64_t bytes, std::int64_t ns, std::int64_t connection) {
  constexpr double kStepsPerDoubling = 8;
  const double rate = static_cast<double>(bytes) / static_cast<double>(ns);
  const auto step = [](double value) {
    return static_cast<int>(std::lround(std::log2(value) * kStepsPerDoubling));
  };
  RateDot& dot = dots_[{kind, step(static_cast<double>(bytes)), step(rate)}];
  if (dot.copies == 0 || rate < dot.slowest) {
    dot.slowest = rate;
    dot.connection = connection;
  }
  dot.min_bytes = dot.copies == 0 ? bytes : std::min(dot.min_bytes, bytes);
  dot.max_bytes = std::max(dot.max_bytes, bytes);
  ++dot.copies;
  dot.bytes += bytes;
  dot.ns += ns;
}

}  // namespace sampan::tool
