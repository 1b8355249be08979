// The memory of a replay: the program's allocations, and buffers in place of its pageable memory.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tools/sampan/replay/replay_plan.h"

namespace sampan::tool {

/// Not thread-safe: one step at a time. Throws a Failure that names the allocation if something does not fit.
class ReplayMemory {
 public:
  /// Allocates and writes all pageable memory.
  explicit ReplayMemory(const ReplayPlan& plan);
  ~ReplayMemory();
  ReplayMemory(const ReplayMemory&) = delete;
  ReplayMemory& operator=(const ReplayMemory&) = delete;

  /// The current device must be the allocation's.
  void Allocate(std::uint64_t allocation);
  void Free(std::uint64_t allocation);
  bool IsAllocated(std::uint64_t allocation) const { return blocks_.contains(allocation); }
  const std::map<std::uint64_t, void*>& blocks() const { return blocks_; }

  void* At(const ReplayPlace& place) const;

 private:
  struct Range {
    std::uint64_t end;
    std::vector<char> memory;
  };

  const ReplayPlan& plan_;
  std::map<std::uint64_t, void*> blocks_;
  std::map<std::uint64_t, Range> pageable_;  ///< by the address that it had
};

}  // namespace sampan::tool
