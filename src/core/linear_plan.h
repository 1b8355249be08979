// The plan of a linear copy. In a header: most calls are short linear copies, and with everything up to the
// queue in one function they cost half as much.
#pragma once

#include <optional>
#include <utility>

#include "core/copy_ends.h"
#include "core/copy_plan.h"
#include "core/copy_request.h"

namespace sampan {

/// Takes the source's bytes now, so that the program may reuse it on return.
Status PlanCaptured(const LinearRequest& request, const PlanContext& context, Ends& ends, Plan& plan);
/// The failure of a kind that contradicts the ends, or that no asynchronous copy has.
Status RefuseKind(const LinearRequest& request, std::optional<CopyKind> kind, const Ends& ends);

inline Status PlanLinear(const LinearRequest& request, CopyForm form, const PlanContext& context,
                         Plan& plan) {
  const MemoryArgument dst{"dst", request.dst, request.bytes};
  const MemoryArgument src{"src", request.src, request.bytes};
  Ends ends;
  if (Status resolved = ResolveEnds(dst, src, form, context, ends); !resolved.ok()) return resolved;
  if (form == CopyForm::kAsynchronous) {
    if (request.kind == CopyKind::kHostToBufferToDevice) [[unlikely]]
      return PlanCaptured(request, context, ends, plan);
    const auto kind = ResolveKind(request.kind, ends.src.place, ends.dst.place, context.profile);
    if (!kind || *kind == CopyKind::kHostToHost) [[unlikely]]
      return RefuseKind(request, kind, ends);
    if (request.dst == request.src) [[unlikely]] {
      plan.timing = Timing::kNothing;
      return {};
    }
  }
  plan.timing = ends.timing();
  if (!ends.known()) [[unlikely]] {
    if (Status probed = ProbeEnds(ends, dst, src); !probed.ok()) return probed;
  }
  plan.task.emplace<CopyTask>(CopyTask{{ends.dst.engine, ends.src.engine, request.bytes},
                                       std::move(ends.dst.use),
                                       std::move(ends.src.use),
                                       ends.direction()});
  if (!ends.dst.more.empty() || !ends.src.more.empty()) [[unlikely]]
    AddNeighbours(plan.task, ends.dst, ends.src);
  return {};
}

}  // namespace sampan
