// The rule for memory that a program frees while a task on it is pending.
#pragma once

#include <span>

#include "backend/api/allocation.h"
#include "backend/api/task.h"
#include "base/error/status.h"

namespace sampan {

inline bool Live(const AllocationUse& use) {
  return !use || use->live();
}

[[gnu::cold, gnu::noinline]] inline Status Freed(const AllocationUse& use) {
  return {Code::kSdmaCopyError,
          Text("memory was freed while a copy on it was queued: ", Describe(*use.get()))};
}

/// Refuses memory that was freed before the task executes. Pageable memory has no record and is not checked.
inline Status CheckLive(const AllocationUse& use) {
  return Live(use) ? Status() : Freed(use);
}
inline Status CheckLive(const AllocationUse& first, const AllocationUse& second) {
  return Live(first) ? CheckLive(second) : Freed(first);
}
inline Status CheckLive(std::span<const AllocationUse> uses) {
  for (const AllocationUse& use : uses) {
    if (!Live(use)) return Freed(use);
  }
  return {};
}
inline Status CheckLive(const MultiAllocationTask& task) {
  return CheckLive(std::span<const AllocationUse>(task.content->uses));
}
inline Status CheckLive(const BatchTask& batch) {
  return CheckLive(std::span<const AllocationUse>(batch.memory.data(), batch.memory.size()));
}

}  // namespace sampan
