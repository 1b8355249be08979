// Plans copies of rows, fills and reductions.
#include "core/copy/copy_plan.h"

#include <utility>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/system/page_size.h"
#include "core/copy/copy_ends.h"
#include "core/copy/peer_copy.h"
#include "core/memory/mapped/peer_mapping.h"

namespace sampan::core {
namespace {

/// Probes the rows of pageable host memory. Whole pages between two rows are skipped, because they need not
/// be mapped.
Status ProbeRows(const Location& end, const MemoryArgument& extent, std::size_t pitch,
                 const RowsRequest& request, HostAccess access) {
  if (end.use) return {};
  if (pitch - request.width < HostPageBytes()) return ProbeHostMemory(extent, access);
  HostProbe probe;
  const auto* row = static_cast<const std::byte*>(extent.address);
  for (std::size_t left = request.height; left > 0; --left, row += pitch) {
    if (Status probed = probe.Check({extent.name, row, request.width}, access); !probed.ok()) return probed;
  }
  return {};
}

/// Sets the bytes from the first row to the end of the last one. Fails if they exceed the address space.
Status SetExtent(MemoryArgument& argument, std::string_view pitch_name, std::size_t pitch,
                 const RowsRequest& request) {
  if (!__builtin_mul_overflow(pitch, request.height - 1, &argument.bytes) &&
      !__builtin_add_overflow(argument.bytes, request.width, &argument.bytes)) {
    return {};
  }
  return {Code::kParamInvalid, Text(pitch_name, " ", pitch, " of ", argument.name, " ", Hex(argument.address),
                                    " times height ", request.height, " is more than there are addresses")};
}

}  // namespace

Status PlanRows(const RowsRequest& request, CopyForm form, PlanContext context, Plan& plan) {
  SAMPAN_ASSERT(request.width != 0 && request.height != 0);
  SAMPAN_ASSERT(request.dst_pitch >= request.width && request.src_pitch >= request.width);
  MemoryArgument dst{"dst", request.dst, 0}, src{"src", request.src, 0};
  if (Status known = SetExtent(dst, "dpitch", request.dst_pitch, request); !known.ok()) return known;
  if (Status known = SetExtent(src, "spitch", request.src_pitch, request); !known.ok()) return known;
  const CopyRanges ranges{dst.address, dst.bytes, src.address, src.bytes};
  auto resolved = ResolveEnds(ranges, form, context);
  if (!resolved.ok()) return resolved.TakeStatus();
  Ends& ends = *resolved;
  const CopyKind kind = ResolveKind(request.kind, ends.src.place, ends.dst.place, context.profile());
  if (kind == CopyKind::kContradiction) return ContradictingKind(request.kind, ends, ranges);
  const bool allowed = kind == CopyKind::kHostToDevice || kind == CopyKind::kDeviceToHost ||
                       (kind == CopyKind::kDeviceToDevice && form == CopyForm::kAsynchronous &&
                        context.profile().rows_between_devices);
  if (!allowed) {
    return Error{Code::kParamInvalid, Text("a 2D copy goes between host and device, this one is ",
                                           Describe(kind), ": ", DescribeEnds(ends, ranges))};
  }
  if (Status probed = ProbeRows(ends.dst, dst, request.dst_pitch, request, HostAccess::kWrite); !probed.ok())
    return probed;
  if (Status probed = ProbeRows(ends.src, src, request.src_pitch, request, HostAccess::kRead); !probed.ok())
    return probed;
  plan.timing = ends.timing();
  plan.Make<RowsTask>(RowsTask{
      {ends.dst.engine, ends.src.engine, request.dst_pitch, request.src_pitch, request.width, request.height},
      std::move(ends.dst.use),
      std::move(ends.src.use),
      ends.direction()});
  AddNeighbours(plan.task, std::move(ends.dst.neighbours), std::move(ends.src.neighbours));
  return RouteToPeers(context, plan);
}

Status PlanFill(const FillRequest& request, PlanContext context, Plan& plan) {
  SAMPAN_ASSERT(request.bytes != 0 && request.bytes <= request.dst_max);
  const MemoryArgument dst{request.name, request.dst, request.bytes};
  Location location;
  if (Status located = Locate(context.registry(), dst, location); !located.ok()) return located;
  if (!location.use) {
    if (Status probed = ProbeHostMemory(dst, HostAccess::kWrite); !probed.ok()) return probed;
  }
  if (Status may = CheckRights(location, dst, HostAccess::kWrite, context.device()); !may.ok()) return may;
  plan.timing = location.place.on_device() ? Timing::kQueued : Timing::kNow;
  plan.Make<FillTask>(FillTask{location.engine, request.bytes, request.pattern, std::move(location.use)});
  AddNeighbours(plan.task, std::move(location.neighbours), {});
  return RouteToPeers(context, plan);
}

Status PlanReduce(const ReduceRequest& request, PlanContext context, Plan& plan) {
  const CopyRanges ranges{request.dst, request.bytes, request.src, request.bytes};
  auto resolved = ResolveEnds(ranges, CopyForm::kAsynchronous, context);
  if (!resolved.ok()) return resolved.TakeStatus();
  Ends& ends = *resolved;
  // Of another host's memory only the source: its owner does not compute.
  const Uses* const more = ends.dst.neighbours.get();
  if (Status here = RefusePeer(context.registry(), ends.dst.use, "a reduction into it", more); !here.ok())
    return here;
  const bool dst_on_device = ends.dst.place.on_device();
  if (!dst_on_device || !ends.src.place.on_device()) {
    const std::string wrong = dst_on_device ? DescribeEnd(ranges.src_argument(), ends.src)
                                            : DescribeEnd(ranges.dst_argument(), ends.dst);
    return {Code::kParamInvalid, Text(wrong, ", it must be device memory")};
  }
  plan.Make<ReduceTask>(ReduceTask{{ends.dst.engine, ends.src.engine, request.bytes},
                                   std::move(ends.dst.use),
                                   std::move(ends.src.use),
                                   request.operation,
                                   request.element});
  AddNeighbours(plan.task, std::move(ends.dst.neighbours), std::move(ends.src.neighbours));
  return RouteToPeers(context, plan);
}

}  // namespace sampan::core
