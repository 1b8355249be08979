// Where both ends of a copy lie, and whether the device may touch them.
#pragma once

#include <string>

#include "base/status.h"
#include "core/copy_plan.h"
#include "core/copy_rules.h"
#include "core/memory_location.h"

namespace sampan {

struct Ends {
  Location dst, src;

  Direction direction() const { return DirectionBetween(src.place, dst.place); }
  /// False where pageable memory takes part.
  bool known() const { return dst.use && src.use; }
  Timing timing() const { return known() ? Timing::kQueued : Timing::kDrainThenNow; }
};

/// Refuses memory of another device that is not open to the one that would touch it.
Status CheckPeer(const Location& end, const PlanContext& context);

/// Finds both ends and checks rights and peers, in this order, the destination first. ResolveInFull goes on
/// where an end is anything but one allocation of the host or of the context's device that needs no rights.
Status ResolveInFull(const MemoryArgument& dst, const MemoryArgument& src, CopyForm form,
                     const PlanContext& context, Ends& ends);
inline Status ResolveEnds(const MemoryArgument& dst, const MemoryArgument& src, CopyForm form,
                          const PlanContext& context, Ends& ends) {
  const auto is_plain = [&](const Location& end, const MemoryArgument& argument) {
    if (!end.LiesInOne(argument) || end.use->facts.has_rights) return false;
    const Place& place = end.use->facts.place;
    return !place.on_device() || place.device == context.device;
  };
  ends.dst.use = context.registry.Find(dst.begin());
  ends.src.use = context.registry.Find(src.begin());
  if (!is_plain(ends.dst, dst) || !is_plain(ends.src, src)) [[unlikely]]
    return ResolveInFull(dst, src, form, context, ends);
  ends.dst.Complete(dst);
  ends.src.Complete(src);
  return {};
}

/// An end, and both of them, for messages.
std::string DescribeEnd(const MemoryArgument& argument, const Location& end);
std::string DescribeEnds(const Ends& ends, const MemoryArgument& dst, const MemoryArgument& src);

/// The failure of a kind that contradicts the ends.
Status ContradictingKind(CopyKind kind, const Ends& ends, const MemoryArgument& dst,
                         const MemoryArgument& src);

/// Refuses ordinary host memory at either end that the process cannot access.
Status ProbeEnds(const Ends& ends, const MemoryArgument& dst, const MemoryArgument& src);

/// Adds the uses of the neighbours, where the task's memory consists of several allocations.
void AddNeighbours(Task& task, Location& first, Location& second);

}  // namespace sampan
