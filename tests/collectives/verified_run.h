// Runs a collective on random data and compares the result with the model of the public operators.
#pragma once

#include "case.h"

namespace collectives {

/// Loads, runs, waits and compares every byte of the output: the result, and what must not have been touched.
/// Throws a Mismatch that names the first wrong byte.
void RunVerified(Rank& rank, const Case& what);

}  // namespace collectives
