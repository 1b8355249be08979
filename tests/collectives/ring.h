// Ranks in a ring, each reading from its left neighbour: what the ring algorithms have in common.
#pragma once

#include <vector>

#include "transfer.h"

namespace collectives {

/// A chunk of the data, one for each rank: where it lies in this rank's output and in the left neighbour's.
struct Chunk {
  u64 offset;
  u64 left_offset;
  u64 bytes;
};

/// `count` elements in as many chunks as there are ranks, in their order; the first ones are longer by an
/// element where it does not come out even.
std::vector<Chunk> EvenChunks(u32 ranks, u64 count, u64 element_bytes);

/// Every rank's output holds the chunk of its own number. Afterwards it holds all of them.
void GatherInRing(Rank& rank, const std::vector<Chunk>& chunks);
/// Every rank's output holds all chunks. Afterwards that of its own number is the combination of all ranks';
/// the others are left half done.
void ReduceInRing(Rank& rank, const std::vector<Chunk>& chunks, const Reduction& reduction);

}  // namespace collectives
