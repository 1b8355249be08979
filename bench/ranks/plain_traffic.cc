// Plain copies and sums, and memory that ranks share.
#include "bench/ranks/plain_traffic.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/error/text.h"
#include "bench/measure/failure.h"
#include "hccl/dtype_common.h"

namespace bench {

using Ranks = std::vector<RankBuffers>;

namespace {

void AddFloats(std::byte* dst, const std::byte* src, u64 count) {
  auto* const to = reinterpret_cast<float*>(dst);
  const auto* const from = reinterpret_cast<const float*>(src);
  for (u64 i = 0; i < count; ++i)
    to[i] += from[i];
}

/// The sum of all inputs at `from`, at `to` of one output.
void AppendSum(Transfers& transfers, std::byte* to, const Ranks& ranks, u64 from, u64 bytes) {
  transfers.push_back({to, ranks[0].input + from, bytes});
  for (std::size_t i = 1; i < ranks.size(); ++i)
    transfers.push_back({to, ranks[i].input + from, bytes, true});
}

}  // namespace

bool HasPlainTraffic(const OperatorCase& what) {
  return !Reduces(what.what) || (what.type == HCCL_DATA_TYPE_FP32 && what.operation == HCCL_REDUCE_SUM);
}

Transfers TransfersOf(const OperatorCase& what, u32 rank, const Ranks& ranks) {
  const u64 bytes = what.count * HcclDataTypeBytes(what.type);
  const auto count = static_cast<u32>(ranks.size());
  const RankBuffers& mine = ranks[rank];
  Transfers transfers;
  switch (what.what) {
    case Operator::kBroadcast:
      if (rank != what.root) transfers.push_back({mine.output, ranks[what.root].output, bytes});
      break;
    case Operator::kScatter:
      transfers.push_back({mine.output, ranks[what.root].input + rank * bytes, bytes});
      break;
    case Operator::kReduceScatter:
      AppendSum(transfers, mine.output, ranks, rank * bytes, bytes);
      break;
    case Operator::kReduce:
    case Operator::kAllReduce: {
      // A share of the elements for each rank, which stores it where it is needed.
      const u64 begin = what.count * rank / count * sizeof(float);
      const u64 share = what.count * (rank + 1) / count * sizeof(float) - begin;
      const bool all = what.what == Operator::kAllReduce;
      const u32 first = all ? rank : what.root;
      AppendSum(transfers, ranks[first].output + begin, ranks, begin, share);
      for (u32 distance = 1; all && distance < count; ++distance)
        transfers.push_back({ranks[(rank + distance) % count].output + begin, mine.output + begin, share});
      break;
    }
    case Operator::kAllGather:
      for (u32 i = 0; i < count; ++i)
        transfers.push_back({mine.output + i * bytes, ranks[i].input, bytes});
      break;
    default:
      for (u32 i = 0; i < count; ++i)
        transfers.push_back({mine.output + i * bytes, ranks[i].input + rank * bytes, bytes});
  }
  return transfers;
}

void Perform(const Transfers& transfers) {
  for (const Transfer& transfer : transfers) {
    if (transfer.adds)
      AddFloats(transfer.dst, transfer.src, transfer.bytes / sizeof(float));
    else
      std::memcpy(transfer.dst, transfer.src, transfer.bytes);
  }
}

SharedBuffers::SharedBuffers(u32 ranks, const Room& room)
    : bytes_(ranks * (room.input_bytes + room.output_bytes)) {
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Failure(sampan::Text("mmap of ", bytes_, " bytes: ", std::strerror(errno)));
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
