// The rules for the kind of a copy and the places of its memory.
#pragma once

#include "backend/api/direction.h"
#include "backend/api/place.h"
#include "core/copy/copy_request.h"
#include "core/objects/profile.h"

namespace sampan {

std::string Describe(CopyKind kind);

/// The direction from one place to the other.
inline Direction DirectionBetween(const Place& src, const Place& dst) {
  return DirectionOf(dst.on_device(), src.on_device());
}
/// Kinds and directions have the same numbers.
inline CopyKind KindOf(Direction direction) {
  return static_cast<CopyKind>(direction);
}

/// Returns the real kind of a copy between these places, or kContradiction if `kind` contradicts them. Only
/// pageable memory can contradict.
CopyKind ResolvePageableKind(CopyKind kind, const Place& src, const Place& dst);
inline CopyKind ResolveKind(CopyKind kind, const Place& src, const Place& dst, const Profile& profile) {
  // If host and device share one memory, every direction is a copy on the device.
  if (!profile.attached) return CopyKind::kDeviceToDevice;
  if (src.kind != PlaceKind::kPageable && dst.kind != PlaceKind::kPageable)
    return KindOf(DirectionBetween(src, dst));
  return ResolvePageableKind(kind, src, dst);
}

/// Returns true if the place is the one that a batch attribute claims.
inline bool Matches(const ClaimedPlace& claim, const Place& place) {
  return claim.known && claim.on_device == place.on_device() &&
         (!claim.on_device || claim.device == static_cast<std::uint32_t>(place.device));
}

}  // namespace sampan
