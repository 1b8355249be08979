// The plan of a linear copy. It is in a header, because most calls are short linear copies. Inlined up to the
// queue, they cost half as much.
#pragma once

#include <utility>

#include "base/error/assert.h"
#include "core/copy/copy_ends.h"
#include "core/copy/copy_plan.h"
#include "core/copy/copy_request.h"

namespace sampan {

inline CopyRanges RangesOf(const LinearRequest& request) {
  return {request.dst, request.bytes, request.src, request.bytes};
}

/// Copies the source now, so that the program may reuse it on return.
[[gnu::noinline]] Status PlanCaptured(const LinearRequest& request, PlanContext context, Ends ends,
                                      Plan& plan);
/// The error for a kind that contradicts the ends, or that no asynchronous copy has.
[[gnu::cold, gnu::noinline]] Status RefuseKind(const LinearRequest& request, CopyKind resolved, Ends ends);
/// Makes the task of a linear copy.
inline void MakeLinear(const LinearRequest& request, PlainEnds ends, Plan& plan) {
  SAMPAN_ASSERT(plan.timing == Timing::kQueued);
  const CopyRanges ranges = RangesOf(request);
  plan.Make<CopyTask>(Segment{ends.dst->EngineView(ranges.dst_begin()),
                              ends.src->EngineView(ranges.src_begin()), request.bytes},
                      ends.TakeDst(), ends.TakeSrc(), ends.direction());
}
void MakeLinear(const LinearRequest& request, Ends& ends, Plan& plan);
/// Refuses ends that the process cannot access.
inline Status CheckAccess(const LinearRequest&, const PlainEnds&) {
  return {};
}
Status CheckAccess(const LinearRequest& request, const Ends& ends);
inline Ends InFull(const LinearRequest& request, PlainEnds ends) {
  return InFull(RangesOf(request), ends);
}
inline Ends InFull(const LinearRequest&, Ends& ends) {
  return std::move(ends);
}

/// Applies the rules of a linear copy to its resolved ends. Takes over the ends' uses.
template <typename AnyEnds>
Status PlanResolved(const LinearRequest& request, CopyForm form, PlanContext context, AnyEnds& ends,
                    Plan& plan) {
  if (form == CopyForm::kAsynchronous) {
    if (request.kind == CopyKind::kHostToBufferToDevice) [[unlikely]]
      return PlanCaptured(request, context, InFull(request, ends), plan);
    const CopyKind kind = ResolveKind(request.kind, ends.src_place(), ends.dst_place(), context.profile());
    if (kind == CopyKind::kContradiction || kind == CopyKind::kHostToHost) [[unlikely]]
      return RefuseKind(request, kind, InFull(request, ends));
    if (request.dst == request.src) [[unlikely]] {
      ends.Release();
      plan.timing = Timing::kNothing;
      return {};
    }
  }
  if (Status may = CheckAccess(request, ends); !may.ok()) return may;
  MakeLinear(request, ends, plan);
  return {};
}
[[gnu::noinline]] Status PlanLinearInFull(const LinearRequest& request, CopyForm form, PlanContext context,
                                          PlainEnds found, Plan& plan);

inline Status PlanLinear(const LinearRequest& request, CopyForm form, PlanContext context, Plan& plan) {
  const CopyRanges ranges = RangesOf(request);
  PlainEnds ends = PlainEnds::At(ranges, context.registry());
  if (!ends.Hold(ranges, context.device())) [[unlikely]]
    return PlanLinearInFull(request, form, context, ends, plan);
  return PlanResolved(request, form, context, ends, plan);
}

}  // namespace sampan
