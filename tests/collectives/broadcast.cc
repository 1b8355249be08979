// Broadcast along a binomial tree: in every round each rank that has the data hands it to one that has not.
#include "collectives.h"
#include "hccl/dtype_common.h"

namespace collectives {

void Broadcast(Rank& rank, u64 count, HcclDataType type, u32 root) {
  const u32 ranks = rank.size();
  const hccl::DeviceMem data = rank.output().range(0, count * HcclDataTypeBytes(type));
  // Places in the tree, the root at 0. A rank's parent is its place without the lowest bit.
  const u32 place = (rank.rank() + ranks - root) % ranks;
  const auto link_at = [&](u32 other) -> hccl::Transport& { return rank.link((other + root) % ranks); };
  u32 lowest_bit = 1;
  while (lowest_bit < ranks && (place & lowest_bit) == 0)
    lowest_bit *= 2;
  if (place == 0) {
    Copy(rank, data, rank.input().range(0, data.size()));
  } else {
    const u32 parent = place - lowest_bit;
    Take(link_at(parent), rank.stream());
    Read(rank, {(parent + root) % ranks, hccl::UserMemType::OUTPUT_MEM, 0}, data, rank.stream());
    Take(link_at(parent), rank.stream());
  }
  for (int handover = 0; handover < 2; ++handover) {
    for (u32 bit = lowest_bit / 2; bit > 0; bit /= 2) {
      if (place + bit < ranks) Give(link_at(place + bit), rank.stream());
    }
  }
}

}  // namespace collectives
