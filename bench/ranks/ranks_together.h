// What the ranks of a measurement do together: begin at the same time, agree on results, share the machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "case.h"

namespace bench {

/// Exchanges texts: returns those of all ranks, by rank. All ranks call it.
std::vector<std::string> Tell(collectives::Rank& rank, const std::string& mine);

/// The seconds of the slowest rank, the same on every rank. All ranks begin together.
double SlowestRank(collectives::Rank& rank, const std::function<void()>& work);

/// Runs the case and checks the results of all ranks. Returns why one is wrong, or an empty text. The same on
/// every rank.
std::string WhyWrong(collectives::Rank& rank, const collectives::Case& what);

/// The case of about `size` bytes, the larger of a rank's input and output. Each rank has the same number of
/// whole elements. Takes collective, reduction and root from `what`.
collectives::Case SizedCase(collectives::Case what, u64 size, u32 ranks);
/// The exact size of the case.
u64 DataSize(const collectives::Case& what, u32 ranks);

/// Divides the cores among the emulated devices of the ranks, unless the user sets them. Call it before the
/// runtime starts.
void ShareCores(u32 ranks);

}  // namespace bench
