// Collectives as data.
#include "case.h"

#include "case_layout.h"
#include "hccl/dtype_common.h"

namespace collectives {
namespace {

/// How many elements a buffer holds: those of one rank, those of all, or none.
enum class Extent { kOne, kAll };

struct Traits {
  Collective collective;
  const char* name;
  Op op;
  Extent input, output;
  bool has_root;
};

const Traits& TraitsOf(Collective collective) {
  static const Traits table[] = {
      {Collective::kRingAllGather, "ring_all_gather", Op::kAllGather, Extent::kOne, Extent::kAll, false},
      {Collective::kMeshAllGather, "mesh_all_gather", Op::kAllGather, Extent::kOne, Extent::kAll, false},
      {Collective::kRingAllReduce, "ring_all_reduce", Op::kAllReduce, Extent::kOne, Extent::kOne, false},
      {Collective::kRingReduceScatter, "ring_reduce_scatter", Op::kReduceScatter, Extent::kAll, Extent::kAll,
       false},
      {Collective::kMeshReduceScatter, "mesh_reduce_scatter", Op::kReduceScatter, Extent::kAll, Extent::kOne,
       false},
      {Collective::kBroadcast, "broadcast", Op::kBroadcast, Extent::kOne, Extent::kOne, true},
      {Collective::kScatter, "scatter", Op::kScatter, Extent::kAll, Extent::kOne, true},
      {Collective::kAllToAll, "all_to_all", Op::kAllToAll, Extent::kAll, Extent::kAll, false},
      {Collective::kAllToAllV, "all_to_all_v", Op::kAllToAllV, Extent::kAll, Extent::kAll, false}};
  return table[static_cast<std::size_t>(collective)];
}

}  // namespace

const std::vector<Collective>& AllCollectives() {
  static const std::vector<Collective> all = {
      Collective::kRingAllGather,     Collective::kMeshAllGather,     Collective::kRingAllReduce,
      Collective::kRingReduceScatter, Collective::kMeshReduceScatter, Collective::kBroadcast,
      Collective::kScatter,           Collective::kAllToAll,          Collective::kAllToAllV};
  return all;
}

std::string NameOf(Collective collective) {
  return TraitsOf(collective).name;
}
bool Reduces(Collective collective) {
  return Reduces(TraitsOf(collective).op);
}
bool HasRoot(Collective collective) {
  return TraitsOf(collective).has_root;
}

std::string Describe(const Case& what, u32 ranks) {
  return NameOf(what.collective) + " of " + std::to_string(what.count) + " elements of type " +
         std::to_string(what.reduction.type) + " among " + std::to_string(ranks) + " ranks, operation " +
         std::to_string(what.reduction.operation) + ", root " + std::to_string(what.root) + ", seed " +
         std::to_string(what.seed);
}

OperatorCase ModelOf(const Case& what) {
  return {TraitsOf(what.collective).op,
          what.reduction.type,
          what.reduction.operation,
          what.count,
          what.root,
          Placing::kApart,
          what.seed};
}

Room RoomFor(const Case& what, u32 ranks) {
  const u64 bytes = what.count * HcclDataTypeBytes(what.reduction.type);
  const auto room = [&](Extent extent) { return extent == Extent::kAll ? bytes * ranks : bytes; };
  const Traits& traits = TraitsOf(what.collective);
  return {room(traits.input), room(traits.output)};
}

Exchange ExchangeOf(const Case& what, u32 rank, u32 ranks) {
  const OperatorCase model = ModelOf(what);
  Exchange exchange;
  for (u32 peer = 0; peer < ranks; ++peer) {
    exchange.send_counts.push_back(CaseLayout::BlockCount(model, rank, peer));
    exchange.send_offsets.push_back(CaseLayout::SendOffset(model, rank, peer));
    exchange.receive_counts.push_back(CaseLayout::BlockCount(model, peer, rank));
    exchange.receive_offsets.push_back(CaseLayout::ReceiveOffset(model, peer, rank, ranks));
  }
  return exchange;
}

void RunCase(Rank& rank, const Case& what) {
  const HcclDataType type = what.reduction.type;
  switch (what.collective) {
    case Collective::kRingAllGather:
      return RingAllGather(rank, what.count, type);
    case Collective::kMeshAllGather:
      return MeshAllGather(rank, what.count, type);
    case Collective::kRingAllReduce:
      return RingAllReduce(rank, what.count, what.reduction);
    case Collective::kRingReduceScatter:
      return RingReduceScatter(rank, what.count, what.reduction);
    case Collective::kMeshReduceScatter:
      return MeshReduceScatter(rank, what.count, what.reduction);
    case Collective::kBroadcast:
      return Broadcast(rank, what.count, type, what.root);
    case Collective::kScatter:
      return Scatter(rank, what.count, type, what.root);
    case Collective::kAllToAll:
      return AllToAll(rank, what.count, type);
    case Collective::kAllToAllV:
      return AllToAllV(rank, ExchangeOf(what, rank.rank(), rank.size()), type);
  }
}

}  // namespace collectives
