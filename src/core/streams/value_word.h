// A 64-bit word of device memory that streams write and wait for.
#pragma once

#include <cstdint>

#include "backend/api/task.h"
#include "base/error/status.h"
#include "core/copy/copy_plan.h"

namespace sampan::core {

/// How the word is compared with the value; the numbers of the public header.
enum class ValueCondition : std::uint32_t { kAtLeast = 0, kEqual = 1, kAnd = 2, kNor = 3 };

struct ValueWaitRequest {
  void* address;
  std::uint64_t value;
  ValueCondition condition;
};

Status PlanValueWrite(void* address, std::uint64_t value, PlanContext context, Plan& plan);
/// The device polls the word. It must outlive the wait.
Status PlanValueWait(const ValueWaitRequest& request, PlanContext context, BackendDevice& device, Plan& plan);

}  // namespace sampan::core
