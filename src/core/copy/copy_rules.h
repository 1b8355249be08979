// The rules for the kind of a copy and the places of its memory.
#pragma once

#include "backend/api/direction.h"
#include "backend/api/place.h"
#include "core/copy/copy_request.h"
#include "core/objects/profile.h"

namespace sampan::core {

std::string Describe(CopyKind kind);

/// The direction from one place to the other.
inline Direction DirectionBetween(const Place& src, const Place& dst) {
  return DirectionOf(dst.on_device(), src.on_device());
}
/// Kinds and directions have the same numbers.
inline CopyKind KindOf(Direction direction) {
  return static_cast<CopyKind>(direction);
}

/// The kind of a copy between memory that the runtime knows. Where host and device share one memory, every
/// direction is a copy on the device.
inline CopyKind KnownKind(Direction direction, const Profile& profile) {
  return profile.attached ? KindOf(direction) : CopyKind::kDeviceToDevice;
}
/// The real kind of a copy between these places; kContradiction if the given kind contradicts them. Only
/// pageable memory can contradict. If the runtime knows both sides, every kind counts as the real one.
CopyKind ResolvePageableKind(CopyKind kind, const Place& src, const Place& dst);
inline CopyKind ResolveKind(CopyKind kind, const Place& src, const Place& dst, const Profile& profile) {
  const bool known = src.kind != PlaceKind::kPageable && dst.kind != PlaceKind::kPageable;
  return known || !profile.attached ? KnownKind(DirectionBetween(src, dst), profile)
                                    : ResolvePageableKind(kind, src, dst);
}

/// Returns true if the place is the one that a batch attribute claims.
inline bool Matches(const ClaimedPlace& claim, const Place& place) {
  return claim.where == (place.on_device() ? place.device : ClaimedPlace::kHost);
}

}  // namespace sampan::core
