// What the ranks of a measurement do together: begin at the same time, agree on results, share the machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "case.h"

namespace bench {

/// What every rank says, by rank. All of them call it.
std::vector<std::string> Tell(collectives::Rank& rank, const std::string& mine);

/// Seconds that the slowest rank needed, the same on every rank. All begin together.
double SlowestRank(collectives::Rank& rank, const std::function<void()>& work);

/// Runs the case and compares what came out. The same answer on every rank: why the result of any rank is
/// wrong, and nothing when all are right.
std::string WhyWrong(collectives::Rank& rank, const collectives::Case& what);

/// The case of about `size` bytes, which are the larger one of a rank's input and output: of whole elements,
/// as many for each rank. Takes collective, reduction and root from `what`.
collectives::Case SizedCase(collectives::Case what, u64 size, u32 ranks);
/// The size it really has.
u64 DataSize(const collectives::Case& what, u32 ranks);

/// Ranks run at once and share the machine: each emulated device gets its part of the cores, unless the user
/// says otherwise. Before the runtime starts.
void ShareCores(u32 ranks);

}  // namespace bench
