// Counters of a report: a line over time that keeps its peaks, for any number of samples.
#include "tools/sampan/report/report_counters.h"

#include <algorithm>

namespace sampan::tool {
namespace {

constexpr std::size_t kMaxIntervals = 3000;
constexpr std::int64_t kFirstSampleNs = 1000;

}  // namespace

void ReportCounter::Add(std::int64_t at_ns, std::int64_t value) {
  highest_ = std::max(highest_, value);
  intervals_.push_back({at_ns, at_ns, value, value, value});
  if (intervals_.size() >= 4 * kMaxIntervals) Coarsen();
}

void ReportCounter::Coarsen() {
  std::stable_sort(intervals_.begin(), intervals_.end(),
                   [](const Interval& one, const Interval& other) { return one.first_ns < other.first_ns; });
  while (intervals_.size() > kMaxIntervals) {
    resolution_ns_ = resolution_ns_ == 0 ? kFirstSampleNs : 2 * resolution_ns_;
    std::size_t kept = 0;
    for (const Interval& each : intervals_) {
      Interval* const before = kept > 0 ? &intervals_[kept - 1] : nullptr;
      if (before == nullptr || each.first_ns / resolution_ns_ != before->first_ns / resolution_ns_) {
        intervals_[kept++] = each;
        continue;
      }
      before->low = std::min(before->low, each.low);
      before->high = std::max(before->high, each.high);
      if (each.last_ns >= before->last_ns) {
        before->last = each.last;
        before->last_ns = each.last_ns;
      }
    }
    intervals_.resize(kept);
  }
}

std::vector<CounterPoint> ReportCounter::Take() {
  Coarsen();
  std::vector<CounterPoint> points;
  for (const Interval& each : intervals_) {
    points.push_back({each.first_ns, each.low, each.high});
    // What holds from here on is the last value, not the range.
    if (each.low != each.high) points.push_back({each.last_ns, each.last, each.last});
  }
  return points;
}

}  // namespace sampan::tool
