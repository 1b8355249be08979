// Resolves both ends of a copy and checks that the device may access them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/error/status.h"
#include "core/copy/copy_plan.h"
#include "core/copy/copy_rules.h"
#include "core/copy/memory_location.h"

namespace sampan::core {

struct Ends {
  Location dst, src;

  Direction direction() const { return DirectionBetween(src.place, dst.place); }
  CopyKind ResolveKind(CopyKind kind, const Profile& profile) const {
    return core::ResolveKind(kind, src.place, dst.place, profile);
  }
  /// False where pageable memory takes part.
  bool known() const { return dst.use && src.use; }
  Timing timing() const { return known() ? Timing::kQueued : Timing::kDrainThenNow; }
  /// Releases both uses early. The destructor does the same.
  void Release() {
    dst.use = {};
    src.use = {};
  }
};

/// The address ranges of a copy. Messages call them dst and src.
struct CopyRanges {
  const void* dst;
  std::size_t dst_bytes;
  const void* src;
  std::size_t src_bytes;

  std::uintptr_t dst_begin() const { return reinterpret_cast<std::uintptr_t>(dst); }
  std::uintptr_t src_begin() const { return reinterpret_cast<std::uintptr_t>(src); }
  MemoryArgument dst_argument() const { return {"dst", dst, dst_bytes}; }
  MemoryArgument src_argument() const { return {"src", src, src_bytes}; }
};

/// Both ends in the common case: each is inside one allocation of the host or of the context's device,
/// without special rights. Plain pointers, so that they stay in registers. The uses are counted already: the
/// caller takes them over by TakeDst and TakeSrc.
struct PlainEnds {
  Allocation* dst = nullptr;
  Allocation* src = nullptr;

  /// The ends of those ranges. Without ends where they are not plain, or may not be: see ResolveEnds.
  [[gnu::always_inline]] static PlainEnds Find(const CopyRanges& ranges, PlanContext context) {
    const MemoryRegistry& registry = context.registry();
    Allocation* const dst = registry.FindHolding(ranges.dst_begin(), ranges.dst_bytes);
    Allocation* const src = registry.FindHolding(ranges.src_begin(), ranges.src_bytes);
    if (IsPlain(dst, context.device()) && IsPlain(src, context.device())) [[likely]]
      return {dst, src};
    return GiveUp(dst, src);
  }
  explicit operator bool() const { return dst != nullptr; }

  Direction direction() const {
    return DirectionOf(dst->facts.place.on_device(), src->facts.place.on_device());
  }
  /// Both are known memory.
  CopyKind ResolveKind(CopyKind, const Profile& profile) const { return KnownKind(direction(), profile); }
  AllocationUse TakeDst() const { return AllocationUse(dst); }
  AllocationUse TakeSrc() const { return AllocationUse(src); }
  /// Releases both uses.
  void Release() const {
    TakeDst();
    TakeSrc();
  }

 private:
  static bool IsPlain(const Allocation* allocation, std::int32_t device) {
    if (allocation == nullptr || allocation->facts.has_rights) return false;
    return !allocation->facts.place.on_device() || allocation->facts.place.device == device;
  }
  [[gnu::noinline]] static PlainEnds GiveUp(Allocation* dst, Allocation* src);
};

/// Refuses memory of another device that this device may not access.
Status CheckPeer(const Location& end, PlanContext context);

/// Finds both ends and checks rights and peers, in this order, the destination first.
Result<Ends> ResolveEnds(const CopyRanges& ranges, CopyForm form, PlanContext context);
/// Plain ends as any others.
Ends InFull(const CopyRanges& ranges, PlainEnds ends);

/// Text for messages: one end, or both.
std::string DescribeEnd(const MemoryArgument& argument, const Location& end);
std::string DescribeEnds(const Ends& ends, const CopyRanges& ranges);

/// The error for a kind that contradicts the ends.
Status ContradictingKind(CopyKind kind, const Ends& ends, const CopyRanges& ranges);

/// Adds the uses of neighbours, if the task's memory consists of several allocations.
void AddNeighbours(Task& task, std::unique_ptr<Uses> first, std::unique_ptr<Uses> second);

}  // namespace sampan::core
