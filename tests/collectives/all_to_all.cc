// All-to-all, with equal and with different counts: each rank reads its part from every input.
#include <cstring>

#include "check.h"
#include "collectives.h"
#include "hccl/dtype_common.h"
#include "mesh.h"

namespace collectives {
namespace {

/// What a rank tells another one about the data it has for it.
struct Announcement {
  u64 count;
  u64 offset;
};

/// What each rank has for this one.
std::vector<Announcement> Announce(Rank& rank, const Exchange& exchange) {
  std::vector<Announcement> told(rank.size());
  for (u32 peer = 0; peer < rank.size(); ++peer)
    told[peer] = {exchange.send_counts[peer], exchange.send_offsets[peer]};
  const auto* const bytes = reinterpret_cast<const u8*>(told.data());
  std::vector<std::vector<u8>> all;
  Check(rank.group().Exchange({bytes, bytes + told.size() * sizeof(Announcement)}, all));
  std::vector<Announcement> heard(rank.size());
  for (u32 peer = 0; peer < rank.size(); ++peer) {
    std::memcpy(&heard[peer], all[peer].data() + rank.rank() * sizeof(Announcement), sizeof(Announcement));
    if (heard[peer].count != exchange.receive_counts[peer])
      throw Failure("rank " + std::to_string(peer) + " sends " + std::to_string(heard[peer].count) +
                    " elements to rank " + std::to_string(rank.rank()) + ", which expects " +
                    std::to_string(exchange.receive_counts[peer]));
  }
  return heard;
}

}  // namespace

void AllToAll(Rank& rank, u64 count, HcclDataType type) {
  const u64 bytes = count * HcclDataTypeBytes(type);
  ReadFromAll(rank, [&](u32 from) {
    return Part{rank.rank() * bytes, rank.output().range(from * bytes, bytes)};
  });
}

void AllToAllV(Rank& rank, const Exchange& exchange, HcclDataType type) {
  const u64 unit = HcclDataTypeBytes(type);
  const std::vector<Announcement> parts = Announce(rank, exchange);
  ReadFromAll(rank, [&](u32 from) {
    const u64 bytes = exchange.receive_counts[from] * unit;
    return Part{parts[from].offset * unit, rank.output().range(exchange.receive_offsets[from] * unit, bytes)};
  });
}

}  // namespace collectives
