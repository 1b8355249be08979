// Reduce-scatter without detours: each rank combines its own part of every input, one peer after the other.
#include "check.h"
#include "collectives.h"
#include "hccl/dtype_common.h"

namespace collectives {
namespace {

/// A handover with all peers, both ways.
void MeetAll(Rank& rank) {
  const auto for_each = [&](HcclResult (hccl::Transport::*call)(hccl::Stream&)) {
    for (u32 distance = 1; distance < rank.size(); ++distance)
      Check((rank.link(rank.RankAt(distance)).*call)(rank.stream()));
  };
  // One kind at a time: ranks that wait for each other before they have spoken would wait for ever.
  for_each(&hccl::Transport::TxAck);
  for_each(&hccl::Transport::RxAck);
  for_each(&hccl::Transport::TxDataSignal);
  for_each(&hccl::Transport::RxDataSignal);
}

}  // namespace

void MeshReduceScatter(Rank& rank, u64 count, const Reduction& reduction) {
  const u64 bytes = count * HcclDataTypeBytes(reduction.type);
  const u64 own = rank.rank() * bytes;
  const hccl::DeviceMem result = rank.output().range(0, bytes);
  Copy(rank, result, rank.input().range(own, bytes));
  MeetAll(rank);
  for (u32 distance = 1; distance < rank.size(); ++distance)
    ReadReduce(rank, {rank.RankAt(distance), hccl::UserMemType::INPUT_MEM, own}, result, reduction);
  MeetAll(rank);
}

}  // namespace collectives
