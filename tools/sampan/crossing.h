// Where one of two ways becomes the better one, told from measured times.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace sampan::tool {

/// Where to go over from the first way to the second: the times of both belong to ascending sizes or counts.
/// Answers the number of the first that is the second way's, chosen so that all together lose least against
/// the better way of each; single figures that are off do not move it far.
inline std::size_t BestCrossing(std::span<const double> first_way, std::span<const double> second_way) {
  std::size_t best = 0;
  double best_gain = 0, gain = 0;  // of leaving the sizes so far to the first way
  for (std::size_t i = 0; i < first_way.size(); ++i) {
    gain += std::log(second_way[i] / first_way[i]);
    if (gain > best_gain) {
      best = i + 1;
      best_gain = gain;
    }
  }
  return best;
}

/// The first whose time is nearly the shortest: more of what grows with the number would buy nothing.
inline std::size_t FirstGoodEnough(std::span<const double> times) {
  constexpr double kNearly = 1.02;
  double shortest = times.front();
  for (const double time : times)
    shortest = time < shortest ? time : shortest;
  std::size_t first = 0;
  while (times[first] > shortest * kNearly)
    ++first;
  return first;
}

}  // namespace sampan::tool
