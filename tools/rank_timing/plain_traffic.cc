// Plain copies and sums in shared memory.
#include "plain_traffic.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "check.h"
#include "hccl/dtype_common.h"

namespace rank_timing {

using collectives::Collective;

namespace {

void AddFloats(std::byte* dst, const std::byte* src, u64 count) {
  auto* const to = reinterpret_cast<float*>(dst);
  const auto* const from = reinterpret_cast<const float*>(src);
  for (u64 i = 0; i < count; ++i)
    to[i] += from[i];
}

}  // namespace

PlainTraffic::PlainTraffic(u32 ranks, const collectives::Room& room)
    : ranks_(ranks), room_(room), bytes_(ranks * (room.input_bytes + room.output_bytes)) {
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw collectives::Failure("mmap of " + std::to_string(bytes_) + " bytes: " + std::strerror(errno));
  memory_ = static_cast<std::byte*>(memory);
}

PlainTraffic::~PlainTraffic() {
  ::munmap(memory_, bytes_);
}

std::byte* PlainTraffic::Input(u32 rank) const {
  return memory_ + rank * (room_.input_bytes + room_.output_bytes);
}
std::byte* PlainTraffic::Output(u32 rank) const {
  return Input(rank) + room_.input_bytes;
}

void PlainTraffic::Run(u32 rank, const collectives::Case& what) const {
  if (!collectives::Reduces(what.collective)) {
    Move(rank, what, what.count * HcclDataTypeBytes(what.reduction.type));
  } else if (what.reduction.type == HCCL_DATA_TYPE_FP32 && what.reduction.operation == HCCL_REDUCE_SUM) {
    Add(rank, what);
  } else {
    throw collectives::Failure(collectives::NameOf(what.collective) + " does more than copy");
  }
}

void PlainTraffic::Move(u32 rank, const collectives::Case& what, u64 bytes) const {
  const u32 left = (rank + ranks_ - 1) % ranks_;
  switch (what.collective) {
    case Collective::kRingAllGather:
      for (u32 i = 0; i < ranks_; ++i)
        std::memcpy(Output(rank) + i * bytes, i == rank ? Input(rank) : Output(left) + i * bytes, bytes);
      return;
    case Collective::kMeshAllGather:
      for (u32 i = 0; i < ranks_; ++i)
        std::memcpy(Output(rank) + i * bytes, Input(i), bytes);
      return;
    case Collective::kAllToAll:
      for (u32 i = 0; i < ranks_; ++i)
        std::memcpy(Output(rank) + i * bytes, Input(i) + rank * bytes, bytes);
      return;
    case Collective::kBroadcast:
      std::memcpy(Output(rank), rank == what.root ? Input(rank) : Output(what.root), bytes);
      return;
    case Collective::kScatter:
      std::memcpy(Output(rank), Input(what.root) + rank * bytes, bytes);
      return;
    default:
      throw collectives::Failure(collectives::NameOf(what.collective) + " does more than copy");
  }
}

void PlainTraffic::Add(u32 rank, const collectives::Case& what) const {
  const auto sum = [&](std::byte* dst, u64 offset, u64 count) {
    std::memcpy(dst, Input(rank) + offset, count * sizeof(float));
    for (u32 distance = 1; distance < ranks_; ++distance)
      AddFloats(dst, Input((rank + distance) % ranks_) + offset, count);
  };
  if (what.collective != Collective::kRingAllReduce)
    return sum(Output(rank), rank * what.count * sizeof(float), what.count);
  const auto begin = [&](u32 part) { return what.count * part / ranks_ * sizeof(float); };
  const auto bytes = [&](u32 part) { return begin(part + 1) - begin(part); };
  sum(Output(rank) + begin(rank), begin(rank), bytes(rank) / sizeof(float));
  for (u32 distance = 1; distance < ranks_; ++distance) {
    const u32 peer = (rank + distance) % ranks_;
    std::memcpy(Output(rank) + begin(peer), Output(peer) + begin(peer), bytes(peer));
  }
}

}  // namespace rank_timing
