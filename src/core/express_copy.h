// The shortest way of the most frequent calls: plain copies that nothing stands in the way of. Inline, so
// that a public function has all of it up to the queue in one piece: where the program's code, or a driver's,
// fills the caches, every call and every jump counts several times over.
#pragma once

#include <algorithm>
#include <array>

#include "core/copy_plan.h"
#include "core/copy_rules.h"
#include "core/memory_registry.h"
#include "core/stream.h"

namespace sampan {
namespace express {

/// Of a batch; more are not few.
inline constexpr std::size_t kMostEntries = 8;

/// Every direction is taken for what the addresses say; the kinds beyond them have rules of their own.
inline bool IsPlainKind(CopyKind kind) {
  return static_cast<unsigned>(kind) <= static_cast<unsigned>(CopyKind::kDefault);
}

/// Whether a device that needs no permission may touch the allocation.
inline bool Plain(const AllocationUse& use, std::int32_t device) {
  if (!use || use->facts.has_rights) return false;
  return !use->facts.place.on_device() || use->facts.place.device == device;
}

inline bool Holds(const AllocationUse& use, const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return use->Contains(address) && use->BytesFrom(address) >= bytes;
}

inline std::byte* EngineView(const AllocationUse& use, const void* address) {
  return use->EngineView(reinterpret_cast<std::uintptr_t>(address));
}

/// The uses of the allocations that two addresses lie in.
struct TwoUses {
  AllocationUse dst, src;

  TwoUses(const void* dst_address, const void* src_address, const MemoryRegistry& registry)
      : dst(registry.Find(reinterpret_cast<std::uintptr_t>(dst_address))),
        src(registry.Find(reinterpret_cast<std::uintptr_t>(src_address))) {}

  bool PlainFor(std::int32_t device) const { return Plain(dst, device) && Plain(src, device); }
  bool Hold(const void* dst_address, const void* src_address, std::size_t bytes) const {
    return Holds(dst, dst_address, bytes) && Holds(src, src_address, bytes);
  }
  Segment SegmentOf(const void* dst_address, const void* src_address, std::size_t bytes) const {
    return {EngineView(dst, dst_address), EngineView(src, src_address), bytes};
  }
};

}  // namespace express

/// Gives an asynchronous linear copy to its stream, one of the caller's context, without a plan and without a
/// task, where the stream's queue has a lane for that and everything about the request is plain: each end
/// lies in one allocation without rights, at least one of them on the caller's device and none on another.
/// False: nothing was done, and whatever there is to say against the request is for its plan to say.
inline bool TryExpressCopy(const LinearRequest& request, Stream& stream, const PlanContext& context) {
  if (request.bytes > stream.express().bytes || !express::IsPlainKind(request.kind)) [[unlikely]]
    return false;
  if (!context.profile.attached || request.dst == request.src) [[unlikely]]
    return false;
  express::TwoUses uses(request.dst, request.src, context.registry);
  if (!uses.PlainFor(context.device) || !uses.Hold(request.dst, request.src, request.bytes)) [[unlikely]]
    return false;
  if (!uses.dst->facts.place.on_device() && !uses.src->facts.place.on_device()) [[unlikely]]
    return false;
  const Segment segment = uses.SegmentOf(request.dst, request.src, request.bytes);
  return stream.TryExpress({&segment, 1}, uses.dst, uses.src);
}

/// The same for a batch of few entries with one attribute, which all lie in the same two allocations.
inline bool TryExpressBatch(const BatchRequest& request, Stream& stream, const PlanContext& context) {
  const std::size_t entries = request.sizes.size();
  if (entries > std::min(stream.express().segments, express::kMostEntries) || request.attributes.size() != 1)
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
  std::array<Segment, express::kMostEntries> segments;
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
