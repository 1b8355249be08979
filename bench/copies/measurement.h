// Times one copy and its alternative, alternately.
#pragma once

#include <optional>
#include <string>

#include "bench/copies/copy_case.h"
#include "bench/copies/disturbance.h"
#include "bench/copies/session.h"
#include "bench/measure/timing.h"

namespace bench {

struct Measurement {
  bool offered = true;  ///< the imitated chip has such a copy
  std::size_t rounds = 0;
  Timing sampan;
  Timing alternative;                 ///< the same without the runtime
  std::optional<std::string> fault;   ///< wrong bytes
  std::optional<Disturbance> beside;  ///< beside kernels, if there was a meter

  /// How many times faster than the alternative.
  double ratio() const { return alternative.median_seconds / sampan.median_seconds; }
};

/// Warms up, measures up to the limits, then clears the destination, copies once more and verifies it. Throws
/// a Failure if the runtime refuses the copy. The alternative is one of alternative.h. With a meter, the copy
/// runs beside kernels too.
Measurement Measure(const CopyPlan& plan, const Session& session, std::string_view alternative,
                    const TurnLimits& limits, DisturbanceMeter* meter = nullptr);

}  // namespace bench
