// An operator in which all ranks of a communicator take part: which bytes this rank moves.
#include <algorithm>
#include <cstring>

#include "collectives/operators/collective.h"

namespace sampan::collectives {

Status Collective::Run(const Buffers& buffers) {
  switch (static_cast<OperatorKind>(facts().kind)) {
    case OperatorKind::kAllReduce:
      return ReduceShare(buffers, buffers.receive);
    case OperatorKind::kReduce:
      return ReduceShare(buffers, Places(&buffers.receive[facts().root], 1));
    case OperatorKind::kReduceScatter:
    case OperatorKind::kReduceScatterV:
      return ReduceOwnBlock(buffers);
    case OperatorKind::kAllGather:
    case OperatorKind::kAllGatherV:
      return PushOwnBlock(buffers);
    case OperatorKind::kBroadcast:
      return PushSlice(buffers);
    case OperatorKind::kScatter:
      return FetchOwnBlock(buffers);
    case OperatorKind::kAllToAll:
    case OperatorKind::kAllToAllV:
    case OperatorKind::kAllToAllVC:
      return FetchBlocks(buffers);
    default:
      return {};  // a barrier
  }
}

Status Collective::ReduceShare(const Buffers& buffers, Places outputs) {
  const auto [begin, end] = ShareOf(facts().count, call_.element_bytes, rank(), size());
  if (begin == end) return {};
  const u64 offset = begin * call_.element_bytes;
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  for (const std::byte* input : buffers.send)
    from.push_back(input + offset);
  for (std::byte* output : outputs)
    to.push_back(output + offset);
  // Not the own output: only the root of a reduce has one.
  const u64 all_bytes = facts().count * call_.element_bytes;
  return Combine(from, to, end - begin, call_.how, all_bytes >= kPastCachesFromBytes);
}

std::byte* Collective::Output(const Buffers& buffers) const {
  return staged_output_ != nullptr ? const_cast<std::byte*>(staging_.data()) : buffers.receive[rank()];
}

Status Collective::ReduceOwnBlock(const Buffers& buffers) {
  const u64 count = buffers.pieces[rank()].count;
  if (count == 0) return {};
  if (NeedsStaging()) {
    staging_.resize(count * call_.element_bytes);
    staged_output_ = buffers.receive[rank()];
  }
  std::vector<const std::byte*> from;
  for (u32 other = 0; other < size(); ++other)
    from.push_back(buffers.send[other] + buffers.pieces[other].offset * call_.element_bytes);
  std::byte* const to = Output(buffers);
  return Combine(from, Places(&to, 1), count, call_.how, call_.receive_bytes >= kPastCachesFromBytes);
}

Status Collective::PushOwnBlock(const Buffers& buffers) {
  const u64 bytes = call_.send_bytes;
  if (bytes == 0) return {};
  const std::byte* const from = staging_.empty() ? buffers.send[rank()] : staging_.data();
  std::vector<std::byte*> to;
  // Each rank begins at another place, so that the ranks do not write to one place at a time.
  for (u32 step = 0; step < size(); ++step) {
    const u32 other = (rank() + step) % size();
    to.push_back(buffers.receive[other] + buffers.pieces[other].offset * call_.element_bytes);
  }
  return CopyToAll(from, to, bytes, call_.receive_bytes >= kPastCachesFromBytes);
}

Status Collective::PushSlice(const Buffers& buffers) {
  const auto [begin, end] = ShareOf(facts().count, call_.element_bytes, rank(), size());
  if (begin == end) return {};
  const u64 offset = begin * call_.element_bytes;
  std::vector<std::byte*> to;
  for (u32 step = 0; step < size(); ++step) {
    const u32 other = (rank() + step) % size();
    if (other != facts().root) to.push_back(buffers.receive[other] + offset);
  }
  if (to.empty()) return {};
  return CopyToAll(buffers.receive[facts().root] + offset, to, (end - begin) * call_.element_bytes,
                   call_.receive_bytes >= kPastCachesFromBytes);
}

Status Collective::FetchOwnBlock(const Buffers& buffers) {
  const u64 bytes = call_.receive_bytes;
  if (NeedsStaging()) {
    staging_.resize(bytes);
    staged_output_ = buffers.receive[rank()];
  }
  std::byte* const to = Output(buffers);
  return CopyToAll(buffers.send[facts().root] + rank() * bytes, Places(&to, 1), bytes,
                   bytes >= kPastCachesFromBytes);
}

Status Collective::FetchBlocks(const Buffers& buffers) {
  for (u32 step = 0; step < size(); ++step) {
    const u32 other = (rank() + step) % size();
    const Piece& there = buffers.pieces[other];
    const u64 here = call_.expected.empty() ? other * facts().count : call_.expected[other].offset;
    if (there.count == 0) continue;
    std::byte* const to = buffers.receive[rank()] + here * call_.element_bytes;
    Status copied = CopyToAll(buffers.send[other] + there.offset * call_.element_bytes, Places(&to, 1),
                              there.count * call_.element_bytes, call_.receive_bytes >= kPastCachesFromBytes);
    if (!copied.ok()) return copied;
  }
  return {};
}

}  // namespace sampan::collectives
