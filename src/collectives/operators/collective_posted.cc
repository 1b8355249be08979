// An operator in which all ranks of a communicator take part, of few bytes: the ranks post their inputs on
// the board, and each takes what it needs. No rank waits for the end of the others.
#include <cstring>

#include "base/reduce/reduce_kernels.h"
#include "collectives/operators/collective.h"

namespace sampan::collectives {

u64 Collective::BytesToPost() const {
  if (size() == 1 || !communicator().host_moves()) return 0;
  const u64 one = facts().count * call_.element_bytes;
  u64 bytes = 0;
  switch (static_cast<OperatorKind>(facts().kind)) {
    case OperatorKind::kAllReduce:
    case OperatorKind::kReduce:
    case OperatorKind::kBroadcast:
    case OperatorKind::kAllGather:
      bytes = one;
      break;
    case OperatorKind::kReduceScatter:
    case OperatorKind::kScatter:
    case OperatorKind::kAllToAll:
      bytes = one <= kPostedBytes ? one * size() : 0;
      break;
    default:
      break;
  }
  return bytes <= kPostedBytes ? bytes : 0;
}

void Collective::Post() {
  const auto kind = static_cast<OperatorKind>(facts().kind);
  const bool of_root = kind == OperatorKind::kBroadcast || kind == OperatorKind::kScatter;
  if (of_root && rank() != facts().root) return;
  const std::byte* const source = (kind == OperatorKind::kBroadcast ? call_.receive : call_.send).engine;
  std::byte* const to = communicator().region().posted(number_, rank());
  if (kind != OperatorKind::kAllToAll) {
    std::memcpy(to, source, posted_bytes_);
    return;
  }
  const u64 block = facts().count * call_.element_bytes, own = rank() * block;  // no other rank needs its own
  std::memcpy(to, source, own);
  std::memcpy(to + own + block, source + own + block, posted_bytes_ - own - block);
}

void Collective::RunPosted() {
  const u64 bytes = facts().count * call_.element_bytes;
  std::byte* const output = call_.receive.engine;
  const auto posted = [&](u32 other) { return communicator().region().posted(number_, other); };
  const auto combine = [&](u64 offset) {
    std::memcpy(output, posted(0) + offset, bytes);
    for (u32 other = 1; other < size(); ++other)
      Reduce({output, posted(other) + offset, facts().count}, call_.how.operation, call_.how.element);
  };
  switch (static_cast<OperatorKind>(facts().kind)) {
    case OperatorKind::kAllReduce:
      return combine(0);
    case OperatorKind::kReduce:
      if (rank() == facts().root) combine(0);
      return;
    case OperatorKind::kReduceScatter:
      return combine(rank() * bytes);
    case OperatorKind::kBroadcast:
      if (rank() != facts().root) std::memcpy(output, posted(facts().root), bytes);
      return;
    case OperatorKind::kScatter:
      std::memcpy(output, posted(facts().root) + rank() * bytes, bytes);
      return;
    default: {
      const u64 offset =
          static_cast<OperatorKind>(facts().kind) == OperatorKind::kAllToAll ? rank() * bytes : 0;
      // First, because the buffers may overlap.
      std::memmove(output + rank() * bytes, call_.send.engine + offset, bytes);
      for (u32 other = 0; other < size(); ++other) {
        if (other != rank()) std::memcpy(output + other * bytes, posted(other) + offset, bytes);
      }
    }
  }
}

}  // namespace sampan::collectives
