// The collectives of the examples as plain copies and sums.
#include "tools/sampan/bench/ranks/collective_traffic.h"

#include <algorithm>

#include "check.h"
#include "hccl/dtype_common.h"

namespace sampan::tool {

using bench::RankBuffers;
using bench::Transfers;

namespace {

[[noreturn]] void Refuse(const collectives::Case& what) {
  throw collectives::Failure(collectives::NameOf(what.collective) + " does more than copy");
}

Transfers Copies(const collectives::Case& what, u32 rank, const std::vector<RankBuffers>& ranks) {
  const u64 bytes = what.count * HcclDataTypeBytes(what.reduction.type);
  const auto count = static_cast<u32>(ranks.size());
  const RankBuffers& mine = ranks[rank];
  const RankBuffers& left = ranks[(rank + count - 1) % count];
  const RankBuffers& root = ranks[what.root];
  Transfers copies;
  switch (what.collective) {
    case collectives::Collective::kRingAllGather:
      for (u32 i = 0; i < count; ++i)
        copies.push_back({mine.output + i * bytes, i == rank ? mine.input : left.output + i * bytes, bytes});
      return copies;
    case collectives::Collective::kMeshAllGather:
      for (u32 i = 0; i < count; ++i)
        copies.push_back({mine.output + i * bytes, ranks[i].input, bytes});
      return copies;
    case collectives::Collective::kAllToAll:
      for (u32 i = 0; i < count; ++i)
        copies.push_back({mine.output + i * bytes, ranks[i].input + rank * bytes, bytes});
      return copies;
    case collectives::Collective::kBroadcast:
      return {{mine.output, rank == what.root ? mine.input : root.output, bytes}};
    case collectives::Collective::kScatter:
      return {{mine.output, root.input + rank * bytes, bytes}};
    default:
      Refuse(what);
  }
}

Transfers Sums(const collectives::Case& what, u32 rank, const std::vector<RankBuffers>& ranks) {
  const auto count = static_cast<u32>(ranks.size());
  std::byte* const output = ranks[rank].output;
  Transfers transfers;
  const auto sum = [&](std::byte* dst, u64 offset, u64 bytes) {
    transfers.push_back({dst, ranks[rank].input + offset, bytes});
    for (u32 distance = 1; distance < count; ++distance)
      transfers.push_back({dst, ranks[(rank + distance) % count].input + offset, bytes, true});
  };
  if (what.collective != collectives::Collective::kRingAllReduce) {
    sum(output, rank * what.count * sizeof(float), what.count * sizeof(float));
    return transfers;
  }
  const auto begin = [&](u32 part) { return what.count * part / count * sizeof(float); };
  const auto bytes = [&](u32 part) { return begin(part + 1) - begin(part); };
  sum(output + begin(rank), begin(rank), bytes(rank));
  for (u32 distance = 1; distance < count; ++distance) {
    const u32 peer = (rank + distance) % count;
    transfers.push_back({output + begin(peer), ranks[peer].output + begin(peer), bytes(peer)});
  }
  return transfers;
}

}  // namespace

Transfers TransfersOf(const collectives::Case& what, u32 rank, const std::vector<RankBuffers>& ranks) {
  if (!collectives::Reduces(what.collective)) return Copies(what, rank, ranks);
  if (what.reduction.type != HCCL_DATA_TYPE_FP32 || what.reduction.operation != HCCL_REDUCE_SUM) Refuse(what);
  return Sums(what, rank, ranks);
}

u64 DataSize(const collectives::Case& what, u32 ranks) {
  const collectives::Room room = collectives::RoomFor(what, ranks);
  return std::max(room.input_bytes, room.output_bytes);
}

collectives::Case SizedCase(collectives::Case what, u64 size, u32 ranks) {
  what.count = 1;
  what.seed = size;
  what.count = std::max<u64>(1, size / DataSize(what, ranks));
  return what;
}

}  // namespace sampan::tool
