// One copy of a replay, ready to be submitted.
#pragma once

#include <acl/acl.h>

#include <vector>

#include "tools/sampan/replay/replay_memory.h"
#include "tools/sampan/replay/replay_operands.h"
#include "tools/sampan/replay/replay_plan.h"

namespace sampan::tool {

/// The allocations of the trace that a copy accesses, each once. Pageable memory is no allocation.
std::vector<std::uint64_t> AllocationsOf(const ReplayPlan& plan, const ReplayStep& step);

/// Stores all addresses. So a blocking copy can run while other threads change the replay's memory.
class ReplayCopy {
 public:
  ReplayCopy(const ReplayPlan& plan, const ReplayStep& step, const ReplayMemory& memory,
             ReplayOperands& operands);

  /// Uses the program's call, or one that does the same. Asynchronous unless the step is blocking.
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
  // For a batch. The public calls take pointers to non-const but do not change them.
  mutable std::vector<void*> dsts_, srcs_;
  mutable std::vector<std::size_t> sizes_;
};

}  // namespace sampan::tool
