// Times of one copy and of an alternative that does the same, taken in turn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/copies/copy_case.h"
#include "bench/copies/session.h"

namespace bench {

/// The middle of some times, with the middles of the lower and the upper half as the spread.
struct Timing {
  double median_seconds = 0;
  double lower_seconds = 0;
  double upper_seconds = 0;
};

/// Of at least one time.
Timing Summarize(std::vector<double> times);

struct Measurement {
  bool offered = true;  ///< the imitated chip has such a copy
  std::size_t rounds = 0;
  Timing sampan;
  Timing alternative;                ///< what a program would do without the runtime
  std::optional<std::string> fault;  ///< wrong bytes

  /// How many times faster than the alternative.
  double ratio() const { return alternative.median_seconds / sampan.median_seconds; }
};

/// Warms up, measures for about so long, then clears the destination, copies once more and verifies it.
/// Throws a Failure when the runtime refuses the copy. The alternative is one of alternative.h. Once
/// `stopped` returns true, the rounds so far count.
Measurement Measure(const CopyPlan& plan, const Session& session, double seconds,
                    std::string_view alternative, bool (*stopped)());

}  // namespace bench
