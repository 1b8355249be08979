// Turns a request into the task that does it: all checks, all splitting, no effects.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "backend/api/backend.h"
#include "backend/api/task.h"
#include "base/error/assert.h"
#include "base/error/status.h"
#include "core/copy/copy_request.h"
#include "core/memory/memory_registry.h"
#include "core/memory/peer_access.h"
#include "core/objects/profile.h"

namespace sampan {

/// What the plans of a process depend on.
struct PlanParts {
  MemoryRegistry& registry;
  const Profile& profile;
  const PeerAccess& peers;
  Backend& backend;
};

/// What a plan depends on besides the request. Two words: passed by value.
class PlanContext {
 public:
  /// For the device that would do it; the parts outlive the context.
  PlanContext(const PlanParts& parts, std::int32_t device) : parts_(&parts), device_(device) {
    SAMPAN_ASSERT(device >= 0 && device < kMaxDevices);
  }

  MemoryRegistry& registry() const { return parts_->registry; }
  const Profile& profile() const { return parts_->profile; }
  const PeerAccess& peers() const { return parts_->peers; }
  Backend& backend() const { return parts_->backend; }
  std::int32_t device() const { return device_; }

 private:
  const PlanParts* parts_;
  std::int32_t device_;
};

/// When a plan's task is done, relative to the call that asked for it.
enum class Timing {
  kQueued,        ///< later, in stream order
  kDrainThenNow,  ///< before the call returns, after everything in the stream: pageable memory takes part
  kNow,           ///< before the call returns, whatever the stream is doing
  kNothing,       ///< there is nothing to do
};

struct Plan {
  Plan() noexcept { ::new (&task) Task; }  // task() would clear all of it
  ~Plan() {
    // A copy that was submitted has given its uses up: no need to ask which task it is.
    auto* const copy = std::get_if<CopyTask>(&task);
    if (copy != nullptr && !copy->dst && !copy->src) return;
    if (std::holds_alternative<NoTask>(task)) return;
    std::destroy_at(&task);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  union {
    Task task;
  };
  Timing timing = Timing::kQueued;

  /// Makes the task of an empty plan. NoTask needs no destruction, and compilers do not see that it is one.
  template <typename Body, typename... Arguments>
  Body& Make(Arguments&&... arguments) {
    SAMPAN_ASSERT(std::holds_alternative<NoTask>(task));
    std::construct_at(&task, std::in_place_type<Body>, std::forward<Arguments>(arguments)...);
    return *std::get_if<Body>(&task);
  }
};

/// Blocking forms take the direction from the addresses; asynchronous ones hold the kind against them.
enum class CopyForm { kBlocking, kAsynchronous };

// Each fills in an empty plan, or fails and leaves nothing of it to be used.

Status PlanRows(const RowsRequest& request, CopyForm form, PlanContext context, Plan& plan);
Status PlanBatch(const BatchRequest& request, PlanContext context, Plan& plan);
Status PlanDescriptor(const DescriptorRequest& request, PlanContext context, Plan& plan);
Status PlanOffset(const OffsetRequest& request, PlanContext context, Plan& plan);
Status PlanFill(const FillRequest& request, PlanContext context, Plan& plan);
Status PlanReduce(const ReduceRequest& request, PlanContext context, Plan& plan);

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
Result<DescriptorWrite> PlanDescriptorWrite(const SetDescriptorRequest& request, PlanContext context);

}  // namespace sampan
