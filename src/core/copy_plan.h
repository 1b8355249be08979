// Turns a request into the task that does it: all checks, all splitting, no effects.
#pragma once

#include <cstdint>

#include "backend/api/backend.h"
#include "backend/api/task.h"
#include "base/status.h"
#include "core/copy_request.h"
#include "core/memory_registry.h"
#include "core/peer_access.h"
#include "core/profile.h"

namespace sampan {

/// What a plan depends on besides the request.
struct PlanContext {
  MemoryRegistry& registry;
  const Profile& profile;
  const PeerAccess& peers;
  std::int32_t device;  ///< the device that would do it
  Backend& backend;
};

/// When a plan's task is done, relative to the call that asked for it.
enum class Timing {
  kQueued,        ///< later, in stream order
  kDrainThenNow,  ///< before the call returns, after everything in the stream: pageable memory takes part
  kNow,           ///< before the call returns, whatever the stream is doing
  kNothing,       ///< there is nothing to do
};

struct Plan {
  Task task;
  Timing timing = Timing::kQueued;
};

/// Blocking forms take the direction from the addresses; asynchronous ones hold the kind against them.
enum class CopyForm { kBlocking, kAsynchronous };

// Each fills in an empty plan, or fails and leaves nothing of it to be used.

Status PlanRows(const RowsRequest& request, CopyForm form, const PlanContext& context, Plan& plan);
Status PlanBatch(const BatchRequest& request, const PlanContext& context, Plan& plan);
Status PlanDescriptor(const DescriptorRequest& request, const PlanContext& context, Plan& plan);
Status PlanOffset(const OffsetRequest& request, const PlanContext& context, Plan& plan);
Status PlanFill(const FillRequest& request, const PlanContext& context, Plan& plan);
Status PlanReduce(const ReduceRequest& request, const PlanContext& context, Plan& plan);

/// The attributes' own rules; they concern no single entry.
Status CheckBatchAttributes(const BatchRequest& request);

/// A checked descriptor that only has to be written to device memory. Not stream-ordered.
struct DescriptorWrite {
  AllocationUse memory;
  std::byte* at;
  DescriptorLayout layout;
  std::uint64_t src, dst;
  std::uint32_t length;

  Status Apply(BackendDevice& device) &&;
};
Result<DescriptorWrite> PlanDescriptorWrite(const SetDescriptorRequest& request, const PlanContext& context);

}  // namespace sampan
