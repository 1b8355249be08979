// The collectives of the examples as plain copies and sums.
#pragma once

#include <vector>

#include "bench/ranks/plain_traffic.h"
#include "case.h"

namespace sampan::tool {

/// The rank's part of one run of the case: the same number of copies with the same lengths. For sums in
/// single precision, the shortest way to the same result. Throws for other cases.
bench::Transfers TransfersOf(const collectives::Case& what, u32 rank,
                             const std::vector<bench::RankBuffers>& ranks);

/// The case of about `size` bytes, the larger of a rank's input and output. Each rank has the same number of
/// whole elements. Takes collective, reduction and root from `what`.
collectives::Case SizedCase(collectives::Case what, u64 size, u32 ranks);

/// The exact size of the case.
u64 DataSize(const collectives::Case& what, u32 ranks);

}  // namespace sampan::tool
