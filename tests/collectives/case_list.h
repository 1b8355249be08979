// Which collectives a test runs.
#pragma once

#include <vector>

#include "case.h"
#include "launch.h"

namespace collectives {

/// Every collective, every type of the reduce list with every operation, and every root. Counts are around
/// the places where something changes: 0, 1, next to the number of ranks, not divisible by it.
std::vector<Case> ManyCases(u32 ranks, u64 seed);
/// A few of each collective.
std::vector<Case> SampleCases(u32 ranks, u64 seed);

/// Room for the largest of the cases, and some bytes more that must not change.
Room RoomForAll(const std::vector<Case>& cases, u32 ranks);

/// A fresh seed, which a failing test shows.
u64 FreshSeed();

/// Runs all cases in one group; expects every rank to verify its results.
void ExpectVerified(const Launch& launch, const std::vector<Case>& cases);

}  // namespace collectives
