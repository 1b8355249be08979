// Plain copies in shared memory.
#include "plain_copies.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "check.h"
#include "hccl/dtype_common.h"

namespace hccl_bench {

using collectives::Collective;

PlainCopies::PlainCopies(u32 ranks, const collectives::Room& room)
    : ranks_(ranks), room_(room), bytes_(ranks * (room.input_bytes + room.output_bytes)) {
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw collectives::Failure("mmap of " + std::to_string(bytes_) + " bytes: " + std::strerror(errno));
  memory_ = static_cast<std::byte*>(memory);
}

PlainCopies::~PlainCopies() {
  ::munmap(memory_, bytes_);
}

std::byte* PlainCopies::Input(u32 rank) const {
  return memory_ + rank * (room_.input_bytes + room_.output_bytes);
}
std::byte* PlainCopies::Output(u32 rank) const {
  return Input(rank) + room_.input_bytes;
}

void PlainCopies::Run(u32 rank, const collectives::Case& what) const {
  const u64 bytes = what.count * HcclDataTypeBytes(what.reduction.type);
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

}  // namespace hccl_bench
