// The rare cases of a linear copy's plan.
#include "core/copy/linear_plan.h"

#include <cstring>
#include <memory>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/threads/threads.h"
#include "core/copy/batch_run.h"
#include "core/copy/peer_copy.h"
#include "core/memory/mapped/peer_mapping.h"

namespace sampan::core {

Status PlanLinearInFull(LinearRequest request, CopyForm form, PlanContext context, Plan& plan) {
  const NoCancellation no_cancellation;
  auto ends = ResolveEnds(RangesOf(request), form, context);
  if (!ends.ok()) return ends.TakeStatus();
  if (Status planned = PlanResolved(request, form, context, *ends, plan); !planned.ok()) return planned;
  return RouteToPeers(context, plan);
}

void MakeLinear(LinearRequest request, Ends& ends, Direction direction, Plan& plan) {
  plan.timing = ends.timing();
  plan.Make<CopyTask>(Segment{ends.dst.engine, ends.src.engine, request.bytes}, std::move(ends.dst.use),
                      std::move(ends.src.use), direction);
  AddNeighbours(plan.task, std::move(ends.dst.neighbours), std::move(ends.src.neighbours));
}

Status CheckAccess(LinearRequest request, const Ends& ends) {
  if (!ends.dst.use) {
    const MemoryArgument dst = RangesOf(request).dst_argument();
    if (Status probed = ProbeHostMemory(dst, HostAccess::kWrite); !probed.ok()) return probed;
  }
  return ends.src.use ? Status() : ProbeHostMemory(RangesOf(request).src_argument(), HostAccess::kRead);
}

Status RefuseKind(LinearRequest request, CopyKind resolved, Ends ends) {
  if (resolved == CopyKind::kContradiction) return ContradictingKind(request.kind, ends, RangesOf(request));
  return Error{Code::kFeatureNotSupport,
               Text("a host-to-host copy cannot be asynchronous: ", DescribeEnds(ends, RangesOf(request))),
               Error::kNoItem, true};
}

Status PlanCaptured(LinearRequest request, PlanContext context, Ends ends, Plan& plan) {
  if (Status may = CheckAccess(request, ends); !may.ok()) return may;
  if (context.profile().attached && ends.direction() != Direction::kHostToDevice) {
    return {Code::kParamInvalid, Text("kind ", Describe(request.kind), " copies from the host to a device: ",
                                      DescribeEnds(ends, RangesOf(request)))};
  }
  if (Status here = RefusePeer(context.registry(), ends.src.use, "HOST_TO_BUF_TO_DEVICE"); !here.ok())
    return here;
  SAMPAN_ASSERT(request.bytes != 0);
  BatchTask& batch = plan.Make<BatchTask>(context.backend().segment_store());
  batch.captured = std::make_unique_for_overwrite<std::byte[]>(request.bytes);
  std::memcpy(batch.captured.get(), ends.src.engine, request.bytes);
  if (Status added = AppendEntry({ends.dst.engine, batch.captured.get(), request.bytes}, 0, batch);
      !added.ok())
    return added;
  batch.direction = ends.direction();
  plan.timing = ends.dst.use ? Timing::kQueued : Timing::kDrainThenNow;
  if (ends.dst.use) batch.memory.push_back(std::move(ends.dst.use));
  if (ends.dst.neighbours != nullptr) {
    for (AllocationUse& each : *ends.dst.neighbours)
      batch.memory.push_back(std::move(each));
  }
  return {};
}

}  // namespace sampan::core
