// The unusual parts of a linear copy's plan.
#include "core/linear_plan.h"

#include <cstring>
#include <memory>

#include "base/text.h"

namespace sampan {

Status RefuseKind(const LinearRequest& request, std::optional<CopyKind> kind, const Ends& ends) {
  const MemoryArgument dst{"dst", request.dst, request.bytes};
  const MemoryArgument src{"src", request.src, request.bytes};
  if (!kind) return ContradictingKind(request.kind, ends, dst, src);
  return Error{Code::kFeatureNotSupport,
               Text("a host-to-host copy cannot be asynchronous: ", DescribeEnds(ends, dst, src)),
               Error::kNoItem, true};
}

Status PlanCaptured(const LinearRequest& request, const PlanContext& context, Ends& ends, Plan& plan) {
  const MemoryArgument dst{"dst", request.dst, request.bytes};
  const MemoryArgument src{"src", request.src, request.bytes};
  if (Status probed = ProbeEnds(ends, dst, src); !probed.ok()) return probed;
  if (context.profile.attached && ends.direction() != Direction::kHostToDevice) {
    return {Code::kParamInvalid, Text("kind ", Describe(request.kind),
                                      " copies from the host to a device: ", DescribeEnds(ends, dst, src))};
  }
  BatchTask& batch = plan.task.emplace<BatchTask>(context.backend.segment_store());
  batch.captured = std::make_unique_for_overwrite<std::byte[]>(request.bytes);
  std::memcpy(batch.captured.get(), ends.src.engine, request.bytes);
  batch.segments.Append({ends.dst.engine, batch.captured.get(), request.bytes});
  batch.bytes = batch.longest = request.bytes;
  batch.direction = ends.direction();
  plan.timing = ends.dst.use ? Timing::kQueued : Timing::kDrainThenNow;
  if (ends.dst.use) batch.memory.push_back(std::move(ends.dst.use));
  for (AllocationUse& each : ends.dst.more)
    batch.memory.push_back(std::move(each));
  return {};
}

}  // namespace sampan
