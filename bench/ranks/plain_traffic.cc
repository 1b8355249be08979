// Plain copies and sums, and memory that ranks share.
#include "bench/ranks/plain_traffic.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "check.h"
#include "hccl/dtype_common.h"

namespace bench {

using collectives::Case;
using collectives::Collective;
using Ranks = std::vector<RankBuffers>;

namespace {

void AddFloats(std::byte* dst, const std::byte* src, u64 count) {
  auto* const to = reinterpret_cast<float*>(dst);
  const auto* const from = reinterpret_cast<const float*>(src);
  for (u64 i = 0; i < count; ++i)
    to[i] += from[i];
}

[[noreturn]] void Refuse(const Case& what) {
  throw collectives::Failure(collectives::NameOf(what.collective) + " does more than copy");
}

Transfers Copies(const Case& what, u32 rank, const Ranks& ranks) {
  const u64 bytes = what.count * HcclDataTypeBytes(what.reduction.type);
  const auto count = static_cast<u32>(ranks.size());
  const RankBuffers& mine = ranks[rank];
  const RankBuffers& left = ranks[(rank + count - 1) % count];
  const RankBuffers& root = ranks[what.root];
  Transfers copies;
  switch (what.collective) {
    case Collective::kRingAllGather:
      for (u32 i = 0; i < count; ++i)
        copies.push_back({mine.output + i * bytes, i == rank ? mine.input : left.output + i * bytes, bytes});
      return copies;
    case Collective::kMeshAllGather:
      for (u32 i = 0; i < count; ++i)
        copies.push_back({mine.output + i * bytes, ranks[i].input, bytes});
      return copies;
    case Collective::kAllToAll:
      for (u32 i = 0; i < count; ++i)
        copies.push_back({mine.output + i * bytes, ranks[i].input + rank * bytes, bytes});
      return copies;
    case Collective::kBroadcast:
      return {{mine.output, rank == what.root ? mine.input : root.output, bytes}};
    case Collective::kScatter:
      return {{mine.output, root.input + rank * bytes, bytes}};
    default:
      Refuse(what);
  }
}

Transfers Sums(const Case& what, u32 rank, const Ranks& ranks) {
  const auto count = static_cast<u32>(ranks.size());
  std::byte* const output = ranks[rank].output;
  Transfers transfers;
  const auto sum = [&](std::byte* dst, u64 offset, u64 bytes) {
    transfers.push_back({dst, ranks[rank].input + offset, bytes});
    for (u32 distance = 1; distance < count; ++distance)
      transfers.push_back({dst, ranks[(rank + distance) % count].input + offset, bytes, true});
  };
  if (what.collective != Collective::kRingAllReduce) {
    sum(output, rank * what.count * sizeof(float), what.count * sizeof(float));
    return transfers;
  }
  const auto begin = [&](u32 part) { return what.count * part / count * sizeof(float); };
  const auto bytes = [&](u32 part) { return begin(part + 1) - begin(part); };
  sum(output + begin(rank), begin(rank), bytes(rank));
  for (u32 distance = 1; distance < count; ++distance) {
    const u32 peer = (rank + distance) % count;
    transfers.push_back({output + begin(peer), ranks[peer].output + begin(peer), bytes(peer)});
  }
  return transfers;
}

}  // namespace

Transfers TransfersOf(const Case& what, u32 rank, const Ranks& ranks) {
  if (!collectives::Reduces(what.collective)) return Copies(what, rank, ranks);
  if (what.reduction.type != HCCL_DATA_TYPE_FP32 || what.reduction.operation != HCCL_REDUCE_SUM) Refuse(what);
  return Sums(what, rank, ranks);
}

void Perform(const Transfers& transfers) {
  for (const Transfer& transfer : transfers) {
    if (transfer.adds)
      AddFloats(transfer.dst, transfer.src, transfer.bytes / sizeof(float));
    else
      std::memcpy(transfer.dst, transfer.src, transfer.bytes);
  }
}

SharedBuffers::SharedBuffers(u32 ranks, const collectives::Room& room)
    : bytes_(ranks * (room.input_bytes + room.output_bytes)) {
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw collectives::Failure("mmap of " + std::to_string(bytes_) + " bytes: " + std::strerror(errno));
  memory_ = static_cast<std::byte*>(memory);
  for (u32 rank = 0; rank < ranks; ++rank) {
    std::byte* const input = memory_ + rank * (room.input_bytes + room.output_bytes);
    all_.push_back({input, input + room.input_bytes});
  }
}

SharedBuffers::~SharedBuffers() {
  ::munmap(memory_, bytes_);
}

}  // namespace bench
