// The memory of a replay: the program's allocations, and buffers in place of its pageable memory.
#include "tools/sampan/replay/replay_memory.h"

#include <acl/acl.h>

#include <cstring>
#include <iterator>
#include <new>

#include "bench/measure/acl_call.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/quantities.h"

namespace sampan::tool {

ReplayMemory::ReplayMemory(const ReplayPlan& plan) : plan_(plan) {
  std::uint64_t total = 0;
  for (const auto& [begin, end] : plan.pageable)
    total += end - begin;
  try {
    for (const auto& [begin, end] : plan.pageable)
      pageable_.emplace(begin, Range{end, std::vector<char>(end - begin, 1)});
  } catch (const std::bad_alloc&) {
    throw Failure(kBadTrace,
                  "the program copied from and to " + ShowBytes(total) +
                      " of its own memory, which this machine does not have; replay it where there is more");
  } catch (const std::length_error&) {
    throw Failure(kBadTrace,
                  "the addresses of pageable memory in the trace are too far apart; record the trace again");
  }
}

ReplayMemory::~ReplayMemory() {
  while (!blocks_.empty())
    Free(blocks_.begin()->first);
}

void ReplayMemory::Allocate(std::uint64_t allocation) {
  const ReplayAllocation& wanted = plan_.allocations.at(allocation);
  const bool is_device = wanted.device >= 0;
  void* block = nullptr;
  const aclError code = is_device ? ::aclrtMalloc(&block, wanted.bytes, ACL_MEM_MALLOC_HUGE_FIRST)
                                  : ::aclrtMallocHost(&block, wanted.bytes);
  if (code != ACL_SUCCESS) {
    throw Failure(kBadTrace,
                  "allocation " + std::to_string(allocation) + " of the trace, " + ShowBytes(wanted.bytes) +
                      (is_device ? " of device " + std::to_string(wanted.device) : " of pinned memory") +
                      ", cannot be made here (" + std::to_string(code) + "): " + bench::RecentMessage() +
                      "; replay it where there is more memory, or with another --backend");
  }
  // Programs write to host memory before they copy from it. So the copy must not pay for page faults.
  if (!is_device) std::memset(block, 1, wanted.bytes);
  blocks_[allocation] = block;
}

void ReplayMemory::Free(std::uint64_t allocation) {
  const auto found = blocks_.find(allocation);
  if (found == blocks_.end()) return;
  if (plan_.allocations.at(allocation).device >= 0)
    ::aclrtFree(found->second);
  else
    ::aclrtFreeHost(found->second);
  blocks_.erase(found);
}

void* ReplayMemory::At(const ReplayPlace& place) const {
  if (place.allocation != 0) return static_cast<char*>(blocks_.at(place.allocation)) + place.offset;
  const auto range = std::prev(pageable_.upper_bound(place.offset));
  return const_cast<char*>(range->second.memory.data()) + (place.offset - range->first);
}

}  // namespace sampan::tool
