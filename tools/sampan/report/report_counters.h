// Counters of a report: a line over time that keeps its peaks, for any number of samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sampan::tool {

/// A value up to the next point, or the range of values in a short time.
struct CounterPoint {
  std::int64_t at_ns = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Takes any number of samples in any order and keeps a bounded number of points.
class ReportCounter {
 public:
  void Add(std::int64_t at_ns, std::int64_t value);

  /// The points ordered by time. Call it once, at the end.
  std::vector<CounterPoint> Take();

  std::int64_t highest() const { return highest_; }

 private:
  /// The samples of one interval.
  struct Interval {
    std::int64_t first_ns, last_ns, low, high, last;
  };

  void Coarsen();

  std::int64_t resolution_ns_ = 0;
  std::int64_t highest_ = 0;
  std::vector<Interval> intervals_;
};

}  // namespace sampan::tool
