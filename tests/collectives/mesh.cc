// Reads from all ranks at once.
#include "mesh.h"

#include "check.h"

namespace collectives {

void ReadFromAll(Rank& rank, const std::function<Part(u32 peer)>& part_of) {
  rank.Fork();
  for (u32 distance = 1; distance < rank.size(); ++distance) {
    const u32 peer = rank.RankAt(distance);
    hccl::Stream& stream = rank.peer_stream(peer);
    const Part part = part_of(peer);
    // A handover both ways.
    Check(rank.link(peer).DataReceivedAck(stream));
    Read(rank, {peer, hccl::UserMemType::INPUT_MEM, part.remote_offset}, part.dst, stream);
    Check(rank.link(peer).DataReceivedAck(stream));
  }
  const Part own = part_of(rank.rank());
  Copy(rank, own.dst, rank.input().range(own.remote_offset, own.dst.size()));
  rank.Join();
}

}  // namespace collectives
