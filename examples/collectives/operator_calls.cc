// Calls the operators with what a case says.
#include <algorithm>

#include "case_layout.h"
#include "hccl/dtype_common.h"

namespace collectives {
namespace {

/// Everything that a call needs. The arrays die with it, right after the call.
struct Arguments {
  const OperatorCase& what;
  u32 rank, ranks;
  HcclComm comm;
  aclrtStream stream;
  char *send, *receive;
  std::vector<uint64_t> send_counts, send_places, receive_counts, receive_places;

  Arguments(const OperatorCase& the_case, const Member& member, aclrtStream on)
      : what(the_case),
        rank(member.rank),
        ranks(member.ranks),
        comm(member.comm),
        stream(on),
        send(nullptr),
        receive(nullptr) {
    for (u32 peer = 0; peer < ranks; ++peer) {
      send_counts.push_back(CaseLayout::BlockCount(what, rank, peer));
      send_places.push_back(CaseLayout::SendOffset(what, rank, peer));
      receive_counts.push_back(CaseLayout::BlockCount(what, peer, rank));
      receive_places.push_back(CaseLayout::ReceiveOffset(what, peer, rank, ranks));
    }
  }
  ~Arguments() {
    for (auto* list : {&send_counts, &send_places, &receive_counts, &receive_places})
      std::fill(list->begin(), list->end(), UINT64_MAX);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  u64 unit() const { return HcclDataTypeBytes(what.type); }
};

void QueueMatrix(const Arguments& with) {
  std::vector<uint64_t> matrix;
  for (u32 from = 0; from < with.ranks; ++from) {
    for (u32 to = 0; to < with.ranks; ++to)
      matrix.push_back(CaseLayout::BlockCount(with.what, from, to));
  }
  Check(HcclAlltoAllVC(with.send, matrix.data(), with.what.type, with.receive, with.what.type, with.comm,
                       with.stream));
}

void QueueBatch(const Arguments& with) {
  std::vector<HcclSendRecvItem> items;
  for (u32 peer = 0; peer < with.ranks; ++peer) {
    items.push_back({HCCL_SEND, with.send + with.send_places[peer] * with.unit(), with.send_counts[peer],
                     with.what.type, peer});
    items.push_back({HCCL_RECV, with.receive + with.receive_places[peer] * with.unit(),
                     with.receive_counts[peer], with.what.type, peer});
  }
  Check(HcclBatchSendRecv(items.data(), static_cast<uint32_t>(items.size()), with.comm, with.stream));
}

/// One message for each pair, in an order in which no two ranks wait for each other. The own block is copied.
void QueueMessages(const Arguments& with) {
  const auto send = [&](u32 peer) {
    Check(HcclSend(with.send + with.send_places[peer] * with.unit(), with.send_counts[peer], with.what.type,
                   peer, with.comm, with.stream));
  };
  const auto receive = [&](u32 peer) {
    Check(HcclRecv(with.receive + with.receive_places[peer] * with.unit(), with.receive_counts[peer],
                   with.what.type, peer, with.comm, with.stream));
  };
  for (u32 low = 0; low < with.ranks; ++low) {
    for (u32 high = low + 1; high < with.ranks; ++high) {
      if (with.rank == low) {
        send(high);
        receive(high);
      } else if (with.rank == high) {
        receive(low);
        send(low);
      }
    }
  }
  const u64 own = with.send_counts[with.rank] * with.unit();
  if (own == 0) return;
  Check(aclrtMemcpyAsync(with.receive + with.receive_places[with.rank] * with.unit(), own,
                         with.send + with.send_places[with.rank] * with.unit(), own,
                         ACL_MEMCPY_DEVICE_TO_DEVICE, with.stream));
}

void QueueReduction(const Arguments& with) {
  const OperatorCase& what = with.what;
  switch (what.op) {
    case Op::kAllReduce:
      return Check(HcclAllReduce(with.send, with.receive, what.count, what.type, what.operation, with.comm,
                                 with.stream));
    case Op::kReduce:
      return Check(HcclReduce(with.send, with.receive, what.count, what.type, what.operation, what.root,
                              with.comm, with.stream));
    case Op::kReduceScatter:
      return Check(HcclReduceScatter(with.send, with.receive, what.count, what.type, what.operation,
                                     with.comm, with.stream));
    default:
      return Check(HcclReduceScatterV(with.send, with.send_counts.data(), with.send_places.data(),
                                      with.receive, with.receive_counts[0], what.type, what.operation,
                                      with.comm, with.stream));
  }
}

}  // namespace

void Queue(const OperatorCase& what, const Member& member, aclrtStream stream, const DeviceBlock& block,
           const CaseMemory& memory) {
  const HcclComm comm = member.comm;
  Arguments with(what, member, stream);
  with.send = static_cast<char*>(block.at(memory.send_at));
  with.receive = static_cast<char*>(block.at(memory.receive_at));
  switch (what.op) {
    case Op::kBroadcast:
      return Check(HcclBroadcast(member.rank == what.root ? with.send : with.receive, what.count, what.type,
                                 what.root, comm, stream));
    case Op::kAllGather:
      return Check(HcclAllGather(with.send, with.receive, what.count, what.type, comm, stream));
    case Op::kAllGatherV:
      return Check(HcclAllGatherV(with.send, with.send_counts[0], with.receive, with.receive_counts.data(),
                                  with.receive_places.data(), what.type, comm, stream));
    case Op::kScatter:
      return Check(HcclScatter(member.rank == what.root ? with.send : nullptr, with.receive, what.count,
                               what.type, what.root, comm, stream));
    case Op::kAllToAll:
      return Check(
          HcclAlltoAll(with.send, what.count, what.type, with.receive, what.count, what.type, comm, stream));
    case Op::kAllToAllV:
      return Check(HcclAlltoAllV(with.send, with.send_counts.data(), with.send_places.data(), what.type,
                                 with.receive, with.receive_counts.data(), with.receive_places.data(),
                                 what.type, comm, stream));
    case Op::kAllToAllVC:
      return QueueMatrix(with);
    case Op::kBatchSendRecv:
      return QueueBatch(with);
    case Op::kSendRecv:
      return QueueMessages(with);
    default:
      return QueueReduction(with);
  }
}

void RunVerified(const OperatorCase& what, World& world) {
  const CaseMemory memory = MemoryOf(what, world.rank, world.size);
  const DeviceBlock block(memory.before);
  Queue(what, {world.rank, world.size, world.comm}, world.stream, block, memory);
  world.Synchronize();
  Compare(what, world.rank, world.size, memory, block);
}

}  // namespace collectives
