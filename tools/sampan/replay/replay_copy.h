// One copy of a replay, ready to be issued.
#pragma once

#include <acl/acl.h>

#include <vector>

#include "tools/sampan/replay/replay_memory.h"
#include "tools/sampan/replay/replay_operands.h"
#include "tools/sampan/replay/replay_plan.h"

namespace sampan::tool {

/// The allocations of the trace that a copy touches, without repetition; pageable memory is none.
std::vector<std::uint64_t> AllocationsOf(const ReplayPlan& plan, const ReplayStep& step);

/// Knows all addresses, so that one that blocks can be issued while others change the memory of the replay.
class ReplayCopy {
 public:
  ReplayCopy(const ReplayPlan& plan, const ReplayStep& step, const ReplayMemory& memory,
             ReplayOperands& operands);

  /// By the call that the program had used, or one that does the same. Queued unless the step is a blocking
  /// one.
  aclError Issue(aclrtStream stream) const;

 private:
  aclError IssueBatch(aclrtStream stream) const;
  aclError IssueIndirect(aclrtStream stream) const;
  aclError IssueReduction(aclrtStream stream) const;

  const ReplayPlan& plan_;
  const ReplayStep& step_;
  ReplayOperands& operands_;
  void* dst_ = nullptr;
  void* src_ = nullptr;
  // Of a batch; the calls take them without const and leave them alone.
  mutable std::vector<void*> dsts_, srcs_;
  mutable std::vector<std::size_t> sizes_;
};

}  // namespace sampan::tool
