// Reduce-scatter around a ring.
#include "collectives.h"
#include "hccl/dtype_common.h"
#include "ring.h"

namespace collectives {

void RingReduceScatter(Rank& rank, u64 count, const Reduction& reduction) {
  const u64 bytes = count * HcclDataTypeBytes(reduction.type);
  const u32 ranks = rank.size();
  // Chunks lie in the output in the order of the ring, the rank's own one at the beginning: there it is
  // wanted.
  std::vector<Chunk> chunks;
  for (u32 i = 0; i < ranks; ++i) {
    const u64 place = (i + ranks - rank.rank()) % ranks;
    const u64 left_place = (place + 1) % ranks;
    chunks.push_back({place * bytes, left_place * bytes, bytes});
  }
  const u64 before = rank.rank() * bytes;
  const u64 from_own_on = ranks * bytes - before;
  Copy(rank, rank.output().range(0, from_own_on), rank.input().range(before, from_own_on));
  Copy(rank, rank.output().range(from_own_on, before), rank.input().range(0, before));
  ReduceInRing(rank, chunks, reduction);
}

}  // namespace collectives
