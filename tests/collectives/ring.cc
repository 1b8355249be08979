// The two walks around the ring: chunks are handed on, or combined on the way.
#include "ring.h"

#include "check.h"

namespace collectives {
namespace {

/// Hands over to the right and takes over from the left, at once.
void PassOn(Rank& rank) {
  hccl::Transport& left = rank.link(rank.RankAt(rank.size() - 1));
  hccl::Transport& right = rank.link(rank.RankAt(1));
  hccl::Stream& stream = rank.stream();
  Check(left.TxAck(stream));
  Check(right.RxAck(stream));
  Check(right.TxDataSignal(stream));
  Check(left.RxDataSignal(stream));
}

Remote LeftPart(Rank& rank, const Chunk& chunk) {
  return {rank.RankAt(rank.size() - 1), hccl::UserMemType::OUTPUT_MEM, chunk.left_offset};
}

}  // namespace

std::vector<Chunk> EvenChunks(u32 ranks, u64 count, u64 element_bytes) {
  std::vector<Chunk> chunks;
  u64 offset = 0;
  for (u32 i = 0; i < ranks; ++i) {
    const u64 bytes = (count / ranks + (i < count % ranks ? 1 : 0)) * element_bytes;
    chunks.push_back({offset, offset, bytes});
    offset += bytes;
  }
  return chunks;
}

void GatherInRing(Rank& rank, const std::vector<Chunk>& chunks) {
  if (rank.size() == 1) return;
  for (u32 step = 1; step < rank.size(); ++step) {
    // What the left one got in the step before; first its own.
    const Chunk& chunk = chunks[rank.RankAt(rank.size() - step)];
    PassOn(rank);
    Read(rank, LeftPart(rank, chunk), rank.output().range(chunk.offset, chunk.bytes), rank.stream());
  }
  PassOn(rank);
}

void ReduceInRing(Rank& rank, const std::vector<Chunk>& chunks, const Reduction& reduction) {
  if (rank.size() == 1) return;
  for (u32 step = 1; step < rank.size(); ++step) {
    // A chunk starts at the rank behind its own and comes to its own in the last step.
    const Chunk& chunk = chunks[rank.RankAt(2 * rank.size() - 1 - step)];
    PassOn(rank);
    ReadReduce(rank, LeftPart(rank, chunk), rank.output().range(chunk.offset, chunk.bytes), reduction);
  }
  PassOn(rank);
}

}  // namespace collectives
