// All-gather without detours: each rank reads every input.
#include "collectives.h"
#include "hccl/dtype_common.h"
#include "mesh.h"

namespace collectives {

void MeshAllGather(Rank& rank, u64 count, HcclDataType type) {
  const u64 bytes = count * HcclDataTypeBytes(type);
  ReadFromAll(rank, [&](u32 from) { return Part{0, rank.output().range(from * bytes, bytes)}; });
}

}  // namespace collectives
