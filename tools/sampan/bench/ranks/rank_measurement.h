// Times of what ranks do together, and of the same without the runtime, taken in turn.
#pragma once

#include "bench/copies/measurement.h"
#include "tools/sampan/bench/ranks/rank_plan.h"

namespace sampan::tool {

/// Warms up, measures for about so long, then does it once more on new data and verifies it. Ranks are
/// threads, one a device where there are as many. A round is as many runs as take half a millisecond, because
/// ranks do not begin in the same moment. Throws a Failure when the runtime refuses something that the
/// imitated chip has. The alternative is one of alternative.h.
bench::Measurement MeasureRanks(const RankPlan& plan, double seconds, std::string_view alternative);

}  // namespace sampan::tool
