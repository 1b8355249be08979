// The order of a replay's steps, and the ranges of memory that they need.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tools/sampan/replay/replay_plan.h"

namespace sampan::tool {

/// Puts the tasks of each stream in the order of their numbers. Several threads may submit to one stream, and
/// the numbers order their tasks better than the clock does.
void KeepOrderOfStreams(std::vector<ReplayStep>& steps);

/// Sorts the ranges [begin, end) and joins those that touch or overlap.
void JoinRanges(std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges);

}  // namespace sampan::tool
