// The plan of a linear copy. It is in a header, because most calls are short linear copies. Inlined up to the
// queue, they cost half as much.
#pragma once

#include <utility>

#include "base/error/assert.h"
#include "core/copy/copy_ends.h"
#include "core/copy/copy_plan.h"
#include "core/copy/copy_request.h"

namespace sampan::core {

inline CopyRanges RangesOf(const LinearRequest& request) {
  return {request.dst, request.bytes, request.src, request.bytes};
}

// Functions that are not in line take the request by value, so that it can stay in registers.

/// Takes the source's bytes now, so that the program may reuse it on return.
[[gnu::noinline]] Status PlanCaptured(LinearRequest request, PlanContext context, Ends ends, Plan& plan);
/// The failure of a kind that contradicts the ends, or that no asynchronous copy has.
[[gnu::cold, gnu::noinline]] Status RefuseKind(LinearRequest request, CopyKind resolved, Ends ends);
/// The tasks of a linear copy, by what its ends need.
inline void MakeLinear(LinearRequest request, PlainEnds ends, Direction direction, Plan& plan) {
  SAMPAN_ASSERT(plan.timing == Timing::kQueued);
  const CopyRanges ranges = RangesOf(request);
  plan.Make<CopyTask>(Segment{ends.dst->EngineView(ranges.dst_begin()),
                              ends.src->EngineView(ranges.src_begin()), request.bytes},
                      ends.TakeDst(), ends.TakeSrc(), direction);
}
void MakeLinear(LinearRequest request, Ends& ends, Direction direction, Plan& plan);
/// Refuses ends that the process cannot access.
inline Status CheckAccess(LinearRequest, const PlainEnds&) {
  return {};
}
Status CheckAccess(LinearRequest request, const Ends& ends);
inline Ends InFull(const LinearRequest& request, PlainEnds ends) {
  return InFull(RangesOf(request), ends);
}
inline Ends InFull(const LinearRequest&, Ends& ends) {
  return std::move(ends);
}

/// Applies the rules of a linear copy to its resolved ends. Takes over the ends' uses.
template <typename AnyEnds>
Status PlanResolved(LinearRequest request, CopyForm form, PlanContext context, AnyEnds& ends, Plan& plan) {
  if (form == CopyForm::kAsynchronous) {
    if (request.kind == CopyKind::kHostToBufferToDevice) [[unlikely]]
      return PlanCaptured(request, context, InFull(request, ends), plan);
    const CopyKind kind = ends.ResolveKind(request.kind, context.profile());
    if (kind == CopyKind::kContradiction || kind == CopyKind::kHostToHost) [[unlikely]]
      return RefuseKind(request, kind, InFull(request, ends));
    if (request.dst == request.src) [[unlikely]] {
      ends.Release();
      plan.timing = Timing::kNothing;
      return {};
    }
  }
  if (Status may = CheckAccess(request, ends); !may.ok()) return may;
  MakeLinear(request, ends, ends.direction(), plan);
  return {};
}
[[gnu::noinline]] Status PlanLinearInFull(LinearRequest request, CopyForm form, PlanContext context,
                                          Plan& plan);

inline Status PlanLinear(LinearRequest request, CopyForm form, PlanContext context, Plan& plan) {
  SAMPAN_ASSERT(request.bytes != 0);
  PlainEnds ends = PlainEnds::Find(RangesOf(request), context);
  if (!ends) [[unlikely]]
    return PlanLinearInFull(request, form, context, plan);
  return PlanResolved(request, form, context, ends, plan);
}

}  // namespace sampan::core
