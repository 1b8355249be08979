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

namespace sampan {

struct Ends {
  Location dst, src;

  Direction direction() const { return DirectionBetween(src.place, dst.place); }
  const Place& dst_place() const { return dst.place; }
  const Place& src_place() const { return src.place; }
  /// False if an end is pageable memory.
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
  Allocation* dst;
  Allocation* src;

  /// The allocations at the starts of the ranges, or null.
  static PlainEnds At(const CopyRanges& ranges, const MemoryRegistry& registry) {
    return {registry.FindCounted(ranges.dst_begin()), registry.FindCounted(ranges.src_begin())};
  }
  /// If false, only the uses are valid, and ResolveInFull continues with them.
  bool Hold(const CopyRanges& ranges, std::int32_t device) const {
    return IsPlain(dst, ranges.dst_begin(), ranges.dst_bytes, device) &&
           IsPlain(src, ranges.src_begin(), ranges.src_bytes, device);
  }

  Direction direction() const { return DirectionBetween(src_place(), dst_place()); }
  const Place& dst_place() const { return dst->facts.place; }
  const Place& src_place() const { return src->facts.place; }
  AllocationUse TakeDst() const { return AllocationUse(dst); }
  AllocationUse TakeSrc() const { return AllocationUse(src); }
  /// Releases both uses.
  void Release() const {
    TakeDst();
    TakeSrc();
  }

 private:
  static bool IsPlain(const Allocation* allocation, std::uintptr_t begin, std::size_t bytes,
                      std::int32_t device) {
    if (allocation == nullptr || !allocation->Holds(begin, bytes) || allocation->facts.has_rights)
      return false;
    return !allocation->facts.place.on_device() || allocation->facts.place.device == device;
  }
};

/// Refuses memory of another device that this device may not access.
Status CheckPeer(const Location& end, PlanContext context);

/// Finds both ends, then checks rights, then peers, each time the destination first. ResolveInFull continues
/// with the uses of the allocations at the starts.
Result<Ends> ResolveInFull(const CopyRanges& ranges, CopyForm form, PlanContext context, PlainEnds found);
inline Result<Ends> ResolveEnds(const CopyRanges& ranges, CopyForm form, PlanContext context) {
  return ResolveInFull(ranges, form, context, PlainEnds::At(ranges, context.registry()));
}
/// Converts plain ends to full ones.
Ends InFull(const CopyRanges& ranges, PlainEnds ends);

/// Text for messages: one end, or both.
std::string DescribeEnd(const MemoryArgument& argument, const Location& end);
std::string DescribeEnds(const Ends& ends, const CopyRanges& ranges);

/// The error for a kind that contradicts the ends.
Status ContradictingKind(CopyKind kind, const Ends& ends, const CopyRanges& ranges);

/// Adds the uses of neighbours, if the task's memory consists of several allocations.
void AddNeighbours(Task& task, std::unique_ptr<Uses> first, std::unique_ptr<Uses> second);

}  // namespace sampan
