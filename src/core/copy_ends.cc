// Where both ends of a copy lie, and whether the device may touch them.
#include "core/copy_ends.h"

#include <iterator>
#include <memory>
#include <utility>

#include "base/text.h"

namespace sampan {
namespace {

/// A blocking copy belongs to no stream, and so to no device: within one device it needs no permission.
Status CheckPeers(const Ends& ends, CopyForm form, const PlanContext& context) {
  if (!ends.dst.place.on_device() || !ends.src.place.on_device()) return {};
  if (form == CopyForm::kBlocking && ends.dst.place == ends.src.place) return {};
  if (Status may = CheckPeer(ends.dst, context); !may.ok()) return may;
  return CheckPeer(ends.src, context);
}

}  // namespace

Status CheckPeer(const Location& end, const PlanContext& context) {
  if (context.peers.Enabled(context.device, end.place.device)) return {};
  return {Code::kParamInvalid, Text("device ", context.device, " may not touch ", Describe(*end.use.get()),
                                    ": call aclrtDeviceEnablePeerAccess(", end.place.device,
                                    ", 0) on device ", context.device, " first")};
}

Status ResolveInFull(const MemoryArgument& dst, const MemoryArgument& src, CopyForm form,
                     const PlanContext& context, Ends& ends) {
  if (Status located = LocateFound(context.registry, dst, ends.dst); !located.ok()) return located;
  if (Status located = LocateFound(context.registry, src, ends.src); !located.ok()) return located;
  if (Status may = CheckRights(ends.dst, dst, HostAccess::kWrite, context.device); !may.ok()) return may;
  if (Status may = CheckRights(ends.src, src, HostAccess::kRead, context.device); !may.ok()) return may;
  return CheckPeers(ends, form, context);
}

std::string DescribeEnd(const MemoryArgument& argument, const Location& end) {
  return Describe(argument, end.place, end.use.get());
}

std::string DescribeEnds(const Ends& ends, const MemoryArgument& dst, const MemoryArgument& src) {
  return Text(DescribeEnd(src, ends.src), ", ", DescribeEnd(dst, ends.dst));
}

Status ContradictingKind(CopyKind kind, const Ends& ends, const MemoryArgument& dst,
                         const MemoryArgument& src) {
  return {Code::kParamInvalid,
          Text("kind ", Describe(kind), " contradicts the addresses: ", DescribeEnds(ends, dst, src))};
}

Status ProbeEnds(const Ends& ends, const MemoryArgument& dst, const MemoryArgument& src) {
  if (!ends.dst.use) {
    if (Status probed = ProbeHostMemory(dst, HostAccess::kWrite); !probed.ok()) return probed;
  }
  if (!ends.src.use) return ProbeHostMemory(src, HostAccess::kRead);
  return {};
}

void AddNeighbours(Task& task, Location& first, Location& second) {
  if (first.more.empty() && second.more.empty()) return;
  SpanTask span;
  span.content =
      std::make_unique<SpanTask::Content>(SpanTask::Content{std::move(task), std::move(first.more)});
  std::vector<AllocationUse>& memory = span.content->memory;
  memory.insert(memory.end(), std::move_iterator(second.more.begin()), std::move_iterator(second.more.end()));
  task.emplace<SpanTask>(std::move(span));
}

}  // namespace sampan
