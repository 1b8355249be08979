// The collectives: each puts its work into the rank's stream and returns. Every rank of the group calls the
// same ones in the same order. Data comes from the ranks' inputs and goes to their outputs. `count` is a
// number of elements, and may be 0.
#pragma once

#include <vector>

#include "transfer.h"

namespace collectives {

/// Every rank's `count` elements, in the order of the ranks, to every output.
void RingAllGather(Rank& rank, u64 count, HcclDataType type);
void MeshAllGather(Rank& rank, u64 count, HcclDataType type);

/// The combination of all ranks' `count` elements to every output.
void RingAllReduce(Rank& rank, u64 count, const Reduction& reduction);

/// Inputs are `count` elements for each rank. Its own, combined from all inputs, go to the beginning of its
/// output. The ring needs room for as much as the input holds in the output, and leaves half-done work there.
void RingReduceScatter(Rank& rank, u64 count, const Reduction& reduction);
void MeshReduceScatter(Rank& rank, u64 count, const Reduction& reduction);

/// The root's `count` elements to every output.
void Broadcast(Rank& rank, u64 count, HcclDataType type, u32 root);

/// The root's input is `count` elements for each rank: they go to its output.
void Scatter(Rank& rank, u64 count, HcclDataType type, u32 root);

/// Inputs are `count` elements for each rank, outputs `count` elements from each.
void AllToAll(Rank& rank, u64 count, HcclDataType type);

/// How many elements go to and come from each rank, and where they lie.
struct Exchange {
  std::vector<u64> send_counts, send_offsets;
  std::vector<u64> receive_counts, receive_offsets;
};
/// Throws when two ranks do not agree on a count. The ranks tell each other their offsets first, which waits.
void AllToAllV(Rank& rank, const Exchange& exchange, HcclDataType type);

}  // namespace collectives
