// A collective with all its arguments, as data.
#pragma once

#include <string>
#include <vector>

#include "collectives.h"
#include "operator_case.h"

namespace collectives {

enum class Collective {
  kRingAllGather,
  kMeshAllGather,
  kRingAllReduce,
  kRingReduceScatter,
  kMeshReduceScatter,
  kBroadcast,
  kScatter,
  kAllToAll,
  kAllToAllV
};
const std::vector<Collective>& AllCollectives();
/// As in ring_all_gather.
std::string NameOf(Collective collective);
bool Reduces(Collective collective);
bool HasRoot(Collective collective);

struct Case {
  Collective collective;
  u64 count;  // of AllToAllV: the most elements that one rank sends to another
  Reduction reduction = {HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM};
  u32 root = 0;
  u64 seed = 0;  // of the data, and of the counts of AllToAllV
};
std::string Describe(const Case& what, u32 ranks);

/// The public operator with the same result, on buffers that are apart.
OperatorCase ModelOf(const Case& what);

/// How many bytes of the ranks' buffers a case uses.
Room RoomFor(const Case& what, u32 ranks);

/// What a rank sends and gets in an AllToAllV.
Exchange ExchangeOf(const Case& what, u32 rank, u32 ranks);

void RunCase(Rank& rank, const Case& what);

}  // namespace collectives
