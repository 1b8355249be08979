// All-reduce around a ring: once around to combine, once around to hand out.
#include "collectives.h"
#include "hccl/dtype_common.h"
#include "ring.h"

namespace collectives {

void RingAllReduce(Rank& rank, u64 count, const Reduction& reduction) {
  const u64 element_bytes = HcclDataTypeBytes(reduction.type);
  const std::vector<Chunk> chunks = EvenChunks(rank.size(), count, element_bytes);
  Copy(rank, rank.output().range(0, count * element_bytes), rank.input().range(0, count * element_bytes));
  ReduceInRing(rank, chunks, reduction);
  GatherInRing(rank, chunks);
}

}  // namespace collectives
