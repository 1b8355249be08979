// Times the work of ranks with and without the runtime, alternately.
#pragma once

#include "bench/copies/measurement.h"
#include "tools/sampan/bench/ranks/rank_plan.h"

namespace sampan::tool {

/// Warms up, measures for about `seconds`, then runs once more on new data and verifies it. Ranks are
/// threads, one per device if there are enough. A round takes at least half a millisecond, because ranks do
/// not start at the same moment. Throws a Failure if the runtime refuses something that the imitated chip
/// has. The alternative is one of alternative.h.
bench::Measurement MeasureRanks(const RankPlan& plan, double seconds, std::string_view alternative);

}  // namespace sampan::tool
