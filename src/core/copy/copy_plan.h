// Turns a request into a task: all checks, all splitting, no effects.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "backend/api/backend.h"
#include "backend/api/task.h"
#include "base/error/assert.h"
#include "base/error/status.h"
#include "core/copy/copy_request.h"
#include "core/copy/memory_location.h"
#include "core/memory/memory_registry.h"
#include "core/memory/peer_access.h"
#include "core/objects/profile.h"

namespace sampan::core {

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
  /// `device` executes the task; kNoDevice: the calling thread may, if all memory is the host's. The parts
  /// must outlive the context.
  PlanContext(const PlanParts& parts, std::int32_t device) : parts_(&parts), device_(device) {
    SAMPAN_ASSERT(device >= kNoDevice && device < kMaxDevices);
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

/// When a plan's task is executed, relative to the call.
enum class Timing {
  kQueued,        ///< later, in stream order
  kDrainThenNow,  ///< before the call returns, behind all work of the stream: for pageable memory
  kNow,           ///< before the call returns, without waiting for the stream
  kNothing,       ///< there is nothing to do
};

struct Plan {
  Plan() noexcept { ::new (&task) Task; }  // task() would clear all of it
  ~Plan() {
    // Most plans are empty by now; compilers do not see what that means for a destructor.
    if (std::holds_alternative<NoTask>(task)) return;
    std::destroy_at(&task);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  union {
    Task task;
  };
  Timing timing = Timing::kQueued;

  /// Creates the task of an empty plan. Skips the destruction of NoTask, which compilers do not see.
  template <typename Body, typename... Arguments>
  Body& Make(Arguments&&... arguments) {
    SAMPAN_ASSERT(std::holds_alternative<NoTask>(task));
    std::construct_at(&task, std::in_place_type<Body>, std::forward<Arguments>(arguments)...);
    return *std::get_if<Body>(&task);
  }
};

/// The linear copy that a task is, of one allocation or several on each side; null for every other task.
inline const CopyTask* LinearCopyOf(const Task& task) {
  const auto* const multi = std::get_if<MultiAllocationTask>(&task);
  return std::get_if<CopyTask>(multi != nullptr ? &multi->content->task : &task);
}

/// Blocking forms take the direction from the addresses. Asynchronous forms check the kind against them.
enum class CopyForm { kBlocking, kAsynchronous };

// Each function fills an empty plan. If it fails, the plan must not be used.

Status PlanRows(const RowsRequest& request, CopyForm form, PlanContext context, Plan& plan);
/// The attributes are checked: see below.
Status PlanBatch(const BatchRequest& request, PlanContext context, Plan& plan);
Status PlanDescriptor(const DescriptorRequest& request, PlanContext context, Plan& plan);
Status PlanOffset(const OffsetRequest& request, PlanContext context, Plan& plan);
Status PlanFill(const FillRequest& request, PlanContext context, Plan& plan);
Status PlanReduce(const ReduceRequest& request, PlanContext context, Plan& plan);

// The attributes' own rules; they concern no single entry.
[[gnu::cold, gnu::noinline]] Status RefuseAttributeCount(std::size_t attributes, std::size_t entries);
inline Status CheckAttributeCount(std::size_t attributes, std::size_t entries) {
  return attributes != 0 && attributes <= entries ? Status() : RefuseAttributeCount(attributes, entries);
}
Status CheckManyAttributes(std::span<const BatchAttribute> attributes, std::size_t entries);
/// Where the attributes begin; their count is checked.
inline Status CheckAttributeStarts(std::span<const BatchAttribute> attributes, std::size_t entries) {
  SAMPAN_ASSERT(!attributes.empty());
  const bool one_for_all = attributes.size() == 1 && attributes.front().first_entry == 0;
  return one_for_all ? Status() : CheckManyAttributes(attributes, entries);
}

/// A checked descriptor, ready to be written to device memory. Not stream-ordered.
struct DescriptorWrite {
  AllocationUse memory;
  std::byte* at;
  DescriptorLayout layout;
  std::uint64_t src, dst;
  std::uint32_t length;

  Status Apply(BackendDevice& device) &&;
};
Result<DescriptorWrite> PlanDescriptorWrite(const SetDescriptorRequest& request, PlanContext context);

}  // namespace sampan::core
