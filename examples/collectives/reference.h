// What ranks have and what they must get, worked out one element at a time.
#pragma once

#include <vector>

#include "case.h"

namespace collectives {

/// The input of a rank: random bits, or for reductions whole numbers so small that every order of adding them
/// up gives the same exact sum in the type; integers wrap around.
std::vector<u8> InputOf(const Case& what, u32 rank, u32 ranks);

/// Where a piece of the result lies in a rank's output, and its bytes.
struct ExpectedPart {
  u64 offset;
  std::vector<u8> bytes;
};
std::vector<ExpectedPart> ResultOf(const Case& what, u32 rank, u32 ranks);

}  // namespace collectives
