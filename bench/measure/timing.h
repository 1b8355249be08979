// Takes times alternately, and summarizes them.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace bench {

/// Seconds since it was constructed.
class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

template <typename Work>
double SecondsOf(const Work& work) {
  const Stopwatch watch;
  work();
  return watch.Seconds();
}

/// The quantile of the values; 0 if there are none.
double Quantile(std::vector<double> values, double part);
double Median(std::vector<double> values);

/// The median with the quartiles as the spread.
struct Timing {
  double median_seconds = 0;
  double lower_seconds = 0;
  double upper_seconds = 0;
};
Timing Summarize(const std::vector<double>& times);

/// In GB/s; 0 if nothing was measured.
inline double Rate(std::size_t bytes, double seconds) {
  return seconds == 0 ? 0 : static_cast<double>(bytes) / seconds / 1e9;
}

/// Does its work once and returns the seconds. Empty: not measured.
using TimedWork = std::function<double()>;
template <typename Work>
TimedWork Timed(Work work) {
  return [work] { return SecondsOf(work); };
}

/// The times of each work. The works alternate, and each turn begins with another one. So changes over time
/// (clock rates, other processes) affect all of them. A turn is `in_a_row` timed calls; if that is more than
/// one, an untimed call comes first. Calls `go_on` before each turn.
std::vector<std::vector<double>> TakeTurns(const std::vector<TimedWork>& works,
                                           const std::function<bool(std::size_t turns)>& goes_on,
                                           int in_a_row = 1);

/// When a measurement is long enough.
struct TurnLimits {
  double seconds = 0;
  std::size_t min_turns = 7;
  std::size_t max_turns = 1'000'000;
  bool (*stopped)() = nullptr;  ///< may be null; true ends the measurement early
};

/// True until the limits are reached. Time counts from this call.
std::function<bool(std::size_t turns)> Until(const TurnLimits& limits);

}  // namespace bench
