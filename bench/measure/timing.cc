// Takes times alternately, and summarizes them.
#include "bench/measure/timing.h"

#include <algorithm>

namespace bench {

double Quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

double Median(std::vector<double> values) {
  return Quantile(std::move(values), 0.5);
}

Timing Summarize(const std::vector<double>& times) {
  return {.median_seconds = Median(times),
          .lower_seconds = Quantile(times, 0.25),
          .upper_seconds = Quantile(times, 0.75)};
}

std::vector<std::vector<double>> TakeTurns(const std::vector<TimedWork>& works,
                                           const std::function<bool(std::size_t turns)>& goes_on,
                                           int in_a_row) {
  std::vector<std::vector<double>> times(works.size());
  for (std::size_t turn = 0; goes_on(turn); ++turn) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const std::size_t which = (i + turn) % works.size();
      if (!works[which]) continue;
      if (in_a_row > 1) works[which]();
      for (int call = 0; call < in_a_row; ++call)
        times[which].push_back(works[which]());
    }
  }
  return times;
}

std::function<bool(std::size_t turns)> Until(const TurnLimits& limits) {
  return [limits, watch = Stopwatch()](std::size_t turns) {
    if (limits.stopped != nullptr && limits.stopped()) return false;
    return turns < limits.max_turns && (turns < limits.min_turns || watch.Seconds() < limits.seconds);
  };
}

}  // namespace bench
