// Issues the steps of a replay, by as many threads as the program had.
#pragma once

#include "tools/sampan/replay/replay_plan.h"

namespace sampan::tool {

enum class ReplaySpeed {
  kAsRecorded,  ///< each step not before its time
  kAsap,        ///< each step as soon as those before it have been begun
};

/// Runs to the end, with all streams synchronised. Throws a Failure that names the line of the trace when
/// something is refused, or an Interruption.
void RunReplay(const ReplayPlan& plan, ReplaySpeed speed);

}  // namespace sampan::tool
