// Which elements a rank has before an operator, and which it has afterwards.
#include "case_layout.h"

#include "random.h"

namespace collectives {

u64 CaseLayout::BlockCount(const OperatorCase& what, u32 from, u32 to) {
  // A gathered block is the same for all, a scattered one from all.
  if (what.op == Op::kAllGatherV) to = 0;
  if (what.op == Op::kReduceScatterV) from = 0;
  return Mixed(what.seed + 1, from, to) % (what.count + 1);
}

u64 CaseLayout::SendOffset(const OperatorCase& what, u32 from, u32 to) {
  if (what.op != Op::kAllToAllVC) return to * what.count;  // with gaps
  u64 offset = 0;
  for (u32 before = 0; before < to; ++before)
    offset += BlockCount(what, from, before);
  return offset;
}

u64 CaseLayout::ReceiveOffset(const OperatorCase& what, u32 from, u32 to, u32 ranks) {
  if (what.op != Op::kAllToAllVC) return (ranks - 1 - from) * what.count;  // from the last to the first
  u64 offset = 0;
  for (u32 before = 0; before < from; ++before)
    offset += BlockCount(what, before, to);
  return offset;
}

CaseLayout::CaseLayout(const OperatorCase& what, u32 rank, u32 ranks) {
  const u64 one = what.count, all = what.count * ranks;
  const bool is_root = rank == what.root;
  switch (what.op) {
    case Op::kAllReduce:
    case Op::kReduce:
      send_elements_ = receive_elements_ = one;
      if (is_root || what.op == Op::kAllReduce) result_.push_back({0, kAllRanks, 0, one});
      return;
    case Op::kBroadcast:
      send_elements_ = is_root ? one : 0;
      receive_elements_ = one;
      if (!is_root) result_.push_back({0, what.root, 0, one});
      return;
    case Op::kAllGather:
      send_elements_ = one;
      receive_elements_ = all;
      for (u32 from = 0; from < ranks; ++from)
        result_.push_back({from * one, from, 0, one});
      return;
    case Op::kReduceScatter:
      send_elements_ = all;
      receive_elements_ = one;
      result_.push_back({0, kAllRanks, rank * one, one});
      return;
    case Op::kScatter:
      send_elements_ = is_root ? all : 0;
      receive_elements_ = one;
      result_.push_back({0, what.root, rank * one, one});
      return;
    case Op::kAllToAll:
      send_elements_ = receive_elements_ = all;
      for (u32 from = 0; from < ranks; ++from)
        result_.push_back({from * one, from, rank * one, one});
      return;
    default:
      AddBlocks(what, rank, ranks);
  }
}

void CaseLayout::AddBlocks(const OperatorCase& what, u32 rank, u32 ranks) {
  send_elements_ = receive_elements_ = what.count * ranks;
  if (what.op == Op::kReduceScatterV) {
    receive_elements_ = what.count;
    result_.push_back({0, kAllRanks, SendOffset(what, 0, rank), BlockCount(what, 0, rank)});
    return;
  }
  for (u32 from = 0; from < ranks; ++from) {
    const u64 first = what.op == Op::kAllGatherV ? 0 : SendOffset(what, from, rank);
    result_.push_back({ReceiveOffset(what, from, rank, ranks), from, first, BlockCount(what, from, rank)});
  }
}

}  // namespace collectives
