// Resolves both ends of a copy and checks that the device may access them.
#include "core/copy/copy_ends.h"

#include <iterator>
#include <memory>
#include <utility>

#include "base/error/assert.h"
#include "base/error/text.h"

namespace sampan::core {
namespace {

/// A blocking copy has no stream and so no device. Inside one device it needs no permission.
Status CheckPeers(const Ends& ends, CopyForm form, PlanContext context) {
  if (!ends.dst.place.on_device() || !ends.src.place.on_device()) return {};
  if (form == CopyForm::kBlocking && ends.dst.place == ends.src.place) return {};
  if (context.device() == kNoDevice) return {};  // no device does it
  if (Status may = CheckPeer(ends.dst, context); !may.ok()) return may;
  return CheckPeer(ends.src, context);
}

}  // namespace

Status CheckPeer(const Location& end, PlanContext context) {
  SAMPAN_ASSERT(end.use && end.place.on_device());
  if (end.use->facts.open_to_peers) return {};
  if (context.peers().Enabled(context.device(), end.place.device)) return {};
  return {Code::kParamInvalid, Text("device ", context.device(), " may not touch ", Describe(*end.use.get()),
                                    ": call aclrtDeviceEnablePeerAccess(", end.place.device,
                                    ", 0) on device ", context.device(), " first")};
}

PlainEnds PlainEnds::GiveUp(Allocation* dst, Allocation* src) {
  PlainEnds{dst, src}.Release();
  return {};
}

Result<Ends> ResolveEnds(const CopyRanges& ranges, CopyForm form, PlanContext context) {
  const MemoryArgument dst = ranges.dst_argument();
  const MemoryArgument src = ranges.src_argument();
  Result<Ends> ends(std::in_place);
  if (Status located = Locate(context.registry(), dst, ends->dst); !located.ok()) return located;
  if (Status located = Locate(context.registry(), src, ends->src); !located.ok()) return located;
  if (Status may = CheckRights(ends->dst, dst, HostAccess::kWrite, context.device()); !may.ok()) return may;
  if (Status may = CheckRights(ends->src, src, HostAccess::kRead, context.device()); !may.ok()) return may;
  if (Status may = CheckPeers(*ends, form, context); !may.ok()) return may;
  return ends;
}

Ends InFull(const CopyRanges& ranges, PlainEnds ends) {
  SAMPAN_ASSERT(ends.dst != nullptr && ends.src != nullptr);
  Ends full;
  full.dst.use = ends.TakeDst();
  full.src.use = ends.TakeSrc();
  full.dst.Complete(ranges.dst);
  full.src.Complete(ranges.src);
  return full;
}

std::string DescribeEnd(const MemoryArgument& argument, const Location& end) {
  return Describe(argument, end.place, end.use.get());
}

std::string DescribeEnds(const Ends& ends, const CopyRanges& ranges) {
  return Text(DescribeEnd(ranges.src_argument(), ends.src), ", ",
              DescribeEnd(ranges.dst_argument(), ends.dst));
}

Status ContradictingKind(CopyKind kind, const Ends& ends, const CopyRanges& ranges) {
  return {Code::kParamInvalid,
          Text("kind ", Describe(kind), " contradicts the addresses: ", DescribeEnds(ends, ranges))};
}

void AddNeighbours(Task& task, std::unique_ptr<Uses> first, std::unique_ptr<Uses> second) {
  if (first == nullptr && second == nullptr) return;
  SAMPAN_ASSERT(!std::holds_alternative<NoTask>(task) && !std::holds_alternative<MultiAllocationTask>(task));
  Uses uses;
  for (const auto& neighbours : {first.get(), second.get()}) {
    if (neighbours == nullptr) continue;
    uses.insert(uses.end(), std::move_iterator(neighbours->begin()), std::move_iterator(neighbours->end()));
  }
  MultiAllocationTask multi;
  multi.content = std::make_unique<MultiAllocationTask::Content>(
      MultiAllocationTask::Content{std::move(task), std::move(uses)});
  task.emplace<MultiAllocationTask>(std::move(multi));  // NOLINT(bugprone-use-after-move): a new content
}

}  // namespace sampan::core
