// Runs a collective on random data and compares what came out with the reference.
#pragma once

#include "case.h"

namespace collectives {

/// Puts the input of the case into place.
void LoadInput(Rank& rank, const Case& what);

/// Loads, runs, waits and compares every byte of the output: the result, and what must not have been touched.
/// Throws a Mismatch that names the first wrong byte. Answers how many bytes were compared.
u64 RunVerified(Rank& rank, const Case& what);

}  // namespace collectives
