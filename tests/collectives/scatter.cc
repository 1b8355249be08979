// Scatter: each rank reads its part from the root.
#include "collectives.h"
#include "hccl/dtype_common.h"

namespace collectives {

void Scatter(Rank& rank, u64 count, HcclDataType type, u32 root) {
  const u64 bytes = count * HcclDataTypeBytes(type);
  const u64 own = rank.rank() * bytes;
  const hccl::DeviceMem result = rank.output().range(0, bytes);
  if (rank.rank() != root) {
    Take(rank.link(root), rank.stream());
    Read(rank, {root, hccl::UserMemType::INPUT_MEM, own}, result, rank.stream());
    Take(rank.link(root), rank.stream());
    return;
  }
  Copy(rank, result, rank.input().range(own, bytes));
  for (int handover = 0; handover < 2; ++handover) {
    for (u32 distance = 1; distance < rank.size(); ++distance)
      Give(rank.link(rank.RankAt(distance)), rank.stream());
  }
}

}  // namespace collectives
