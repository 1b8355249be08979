// What the ranks of a measurement do together: begin at the same time, agree on results, share the machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/ranks/comm_rank.h"

namespace bench {

/// Exchanges texts: returns those of all ranks, by rank. All ranks call it.
std::vector<std::string> Tell(hccl::RankGroup& group, const std::string& mine);

/// The seconds of the slowest rank, the same on every rank. All ranks begin together: by a barrier of their
/// streams, or of their group.
double SlowestRank(CommRank& rank, const std::function<void()>& work);
double SlowestRank(hccl::RankGroup& group, const std::function<void()>& work);

/// Runs the case and checks the results of all ranks. Returns why one is wrong, or an empty text. The same on
/// every rank.
std::string WhyWrongAnywhere(CommRank& rank, const OperatorCase& what);

/// Divides the cores among the emulated devices of the ranks, unless the user sets them. Call it before the
/// runtime starts.
void ShareCores(u32 ranks);

}  // namespace bench
