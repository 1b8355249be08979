// Every rank reads from every rank directly, on a stream for each: what the mesh algorithms have in common.
#pragma once

#include <functional>

#include "transfer.h"

namespace collectives {

/// What to read from a rank's input, and to where.
struct Part {
  u64 remote_offset;
  hccl::DeviceMem dst;
};

/// Reads a part from each rank, its own input included, all at once.
void ReadFromAll(Rank& rank, const std::function<Part(u32 from)>& part_of);

}  // namespace collectives
