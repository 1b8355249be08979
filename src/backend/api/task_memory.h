// The rule for memory that a program frees while a task on it is pending.
#pragma once

#include <span>

#include "backend/api/allocation.h"
#include "backend/api/task.h"
#include "base/error/status.h"

namespace sampan {

/// Calls `visit` for each known use of the task, until one does not return success.
template <typename Visit>
Status VisitUses(const Task& task, const Visit& visit) {
  Status visited;
  const auto all = [&](const auto& uses) {
    for (const AllocationUse& use : uses) {
      if (visited.ok()) visited = visit(use);
    }
  };
  const auto of_body = [&](const auto& body) {
    if constexpr (requires {
                    body.src;
                    body.dst.get();
                  }) {
      visited = visit(body.dst);
      if (visited.ok()) visited = visit(body.src);
    } else if constexpr (requires { body.memory.get(); }) {
      visited = visit(body.memory);
    } else if constexpr (requires { body.memory.begin(); }) {
      all(body.memory);
    } else if constexpr (requires { body.content->operands_memory; }) {
      all(body.content->operands_memory);
    } else if constexpr (requires { body.content->uses; }) {
      all(body.content->uses);
      if (visited.ok()) visited = VisitUses(body.content->task, visit);
    } else if constexpr (requires { body.gate->memory(); }) {
      if (body.gate->memory() != nullptr) visited = visit(*body.gate->memory());
    } else if constexpr (requires { body.work->device_task(); }) {
      if (body.work->device_task() != nullptr) visited = VisitUses(*body.work->device_task(), visit);
    }
  };
  std::visit(of_body, task);
  return visited;
}

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
