// All-gather around a ring: each rank hands on what it got last. Every link carries the same load.
#include "collectives.h"
#include "hccl/dtype_common.h"
#include "ring.h"

namespace collectives {

void RingAllGather(Rank& rank, u64 count, HcclDataType type) {
  const u64 bytes = count * HcclDataTypeBytes(type);
  Copy(rank, rank.output().range(rank.rank() * bytes, bytes), rank.input().range(0, bytes));
  GatherInRing(rank, EvenChunks(rank.size(), rank.size() * count, HcclDataTypeBytes(type)));
}

}  // namespace collectives
