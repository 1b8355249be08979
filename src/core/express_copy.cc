// The shortest way of the most frequent calls: plain copies that nothing stands in the way of.
#include "core/express_copy.h"

#include <algorithm>
#include <array>

#include "core/copy_rules.h"
#include "core/memory_registry.h"

namespace sampan {
namespace {

/// More entries are not few.
constexpr std::size_t kMostEntries = 8;

}  // namespace

bool TryExpressBatch(const BatchRequest& request, Stream& stream, const PlanContext& context) {
  const std::size_t entries = request.sizes.size();
  if (entries > std::min(stream.express().segments, kMostEntries) || request.attributes.size() != 1)
    return false;
  if (!context.profile.attached || !context.profile.batch || request.attributes.front().first_entry != 0)
    return false;
  express::TwoUses uses(request.dsts.front(), request.srcs.front(), context.registry);
  if (!uses.PlainFor(context.device)) return false;
  const Place& dst = uses.dst->facts.place;
  const Place& src = uses.src->facts.place;
  const BatchAttribute& claimed = request.attributes.front();
  if (dst.on_device() == src.on_device() || !Matches(claimed.dst, dst) || !Matches(claimed.src, src))
    return false;
  std::array<Segment, kMostEntries> segments;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t length = request.sizes[i];
    if (length == 0 || !uses.Hold(request.dsts[i], request.srcs[i], length)) return false;
    segments[i] = uses.SegmentOf(request.dsts[i], request.srcs[i], length);
    bytes += length;
  }
  return bytes <= stream.express().bytes && stream.TryExpress({segments.data(), entries}, uses.dst, uses.src);
}

}  // namespace sampan
