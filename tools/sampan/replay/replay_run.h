// Executes the steps of a replay, with as many threads as the program had.
#pragma once

#include "tools/sampan/replay/replay_plan.h"

namespace sampan::tool {

enum class ReplaySpeed {
  kAsRecorded,  ///< each step at its recorded time or later
  kAsap,        ///< each step when all earlier steps have begun
};

/// Executes all steps and synchronizes all streams. If a call fails, throws a Failure that names the line of
/// the trace. May throw an Interruption.
void RunReplay(const ReplayPlan& plan, ReplaySpeed speed);

}  // namespace sampan::tool
