// The shortest way of the most frequent call: a short copy that nothing stands in the way of.
#include "core/express_copy.h"

#include "core/memory_registry.h"

namespace sampan {
namespace {

/// Every direction is taken for what the addresses say; the kinds beyond them have rules of their own.
bool IsPlainKind(CopyKind kind) {
  return static_cast<unsigned>(kind) <= static_cast<unsigned>(CopyKind::kDefault);
}

/// Whether the allocation holds the range, for a device that needs no permission.
bool Plain(const AllocationUse& use, const void* address, std::size_t bytes, std::int32_t device) {
  if (!use || use->facts.has_rights) return false;
  if (use->BytesFrom(reinterpret_cast<std::uintptr_t>(address)) < bytes) return false;
  return !use->facts.place.on_device() || use->facts.place.device == device;
}

std::byte* EngineView(const AllocationUse& use, const void* address) {
  return use->EngineView(reinterpret_cast<std::uintptr_t>(address));
}

}  // namespace

bool TryExpressCopy(const LinearRequest& request, Stream& stream, const PlanContext& context) {
  if (!stream.may_copy_at_once() || request.bytes > Queue::kMostBytesAtOnce || !IsPlainKind(request.kind))
    return false;
  if (!context.profile.attached || request.dst == request.src) return false;
  const AllocationUse dst = context.registry.Find(reinterpret_cast<std::uintptr_t>(request.dst));
  if (!Plain(dst, request.dst, request.bytes, context.device)) return false;
  const AllocationUse src = context.registry.Find(reinterpret_cast<std::uintptr_t>(request.src));
  if (!Plain(src, request.src, request.bytes, context.device)) return false;
  if (!dst->facts.place.on_device() && !src->facts.place.on_device()) return false;
  return stream.TryCopyAtOnce({EngineView(dst, request.dst), EngineView(src, request.src), request.bytes});
}

}  // namespace sampan
