// A call of an operator while its arguments are checked: the first failure is the call's.
#include "collectives/calls/operator_call.h"

#include <algorithm>

#include "collectives/calls/call_group.h"
#include "hccl/dtype_common.h"

namespace sampan::collectives {

void OperatorCall::Type(HcclDataType type) {
  Step([&] { return CheckType(function(), row_.kind, type); });
  if (!ok()) return;
  call_.facts.type = type;
  call_.element_bytes = HcclDataTypeBytes(type);
}

void OperatorCall::Operation(HcclDataType type, HcclReduceOp operation) {
  Step([&] { return CheckOperation(function(), row_.kind, type, operation); });
  if (!ok()) return;
  call_.facts.operation = operation;
  call_.how = {FindReduceRow(kReduceTypeRows, &ReduceTypeRow::hccl, type)->element,
               FindReduceRow(kReduceOperationRows, &ReduceOperationRow::hccl, operation)->operation};
}

void OperatorCall::Root(u32 root) {
  Step([&] { return CheckRank(function(), "root", root, size()); });
  call_.facts.root = root;
}

void OperatorCall::Digest(const std::uint64_t* numbers, u64 count) {
  u64 hash = 0xCBF29CE484222325ULL;
  for (u64 i = 0; ok() && i < count; ++i)
    hash = (hash ^ numbers[i]) * 0x100000001B3ULL;
  call_.facts.digest = hash;
}

u64 OperatorCall::Extent(const char* counts_name, const std::uint64_t* counts,
                         const std::uint64_t* displacements, u32 ranks) {
  u64 extent = 0, next = 0;
  for (u32 rank = 0; ok() && rank < ranks; ++rank) {
    Step([&] { return CheckCount(function(), Text(counts_name, "[", rank, "]").c_str(), counts[rank]); });
    if (!ok() || counts[rank] == 0) continue;
    const std::uint64_t begin = displacements != nullptr ? displacements[rank] : next;
    Step([&] { return CheckCount(function(), Text("the displacement of rank ", rank).c_str(), begin); });
    extent = std::max<u64>(extent, begin + counts[rank]);
    next += counts[rank];
  }
  return extent;
}

void OperatorCall::Send(const char* name, const void* buffer, u64 elements) {
  call_.send_bytes = elements * call_.element_bytes;
  send_buffer_ = buffer;
  Step([&] { return FindBuffer(function(), communicator(), name, buffer, call_.send_bytes, call_.send); });
}

void OperatorCall::Receive(const char* name, const void* buffer, u64 elements) {
  call_.receive_bytes = elements * call_.element_bytes;
  receive_buffer_ = buffer;
  Step([&] {
    return FindBuffer(function(), communicator(), name, buffer, call_.receive_bytes, call_.receive);
  });
}

HcclResult OperatorCall::Queue(void* stream) {
  if (!ok()) return result_;
  if (size() == 1 && send_buffer_ != nullptr && send_buffer_ == receive_buffer_) return HCCL_SUCCESS;
  CallGroup& group = CallGroup::OfThread();
  if (group.is_open()) return group.Queue(function(), communicator_, std::move(call_), stream);
  return Submit(function(), communicator_, std::move(call_), stream);
}

std::vector<Piece> PiecesOf(const std::uint64_t* counts, const std::uint64_t* displacements, u32 ranks) {
  std::vector<Piece> pieces(ranks);
  u64 next = 0;
  for (u32 rank = 0; rank < ranks; ++rank) {
    pieces[rank] = {displacements != nullptr ? displacements[rank] : next, counts[rank]};
    next += counts[rank];
  }
  return pieces;
}

}  // namespace sampan::collectives
