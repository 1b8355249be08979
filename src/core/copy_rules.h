// The rules by which the kind of a copy and the places of its memory fit together.
#pragma once

#include <optional>

#include "backend/api/place.h"
#include "core/copy_request.h"
#include "core/profile.h"

namespace sampan {

std::string Describe(CopyKind kind);

/// The kind that a copy between these places really has; none when the given one contradicts them.
std::optional<CopyKind> ResolveKind(CopyKind kind, const Place& src, const Place& dst,
                                    const Profile& profile);

/// Whether memory lies where an attribute of a batch says.
inline bool Matches(const ClaimedPlace& claim, const Place& place) {
  return claim.known && claim.on_device == place.on_device() &&
         (!claim.on_device || claim.device == static_cast<std::uint32_t>(place.device));
}

/// The direction that the places alone give.
CopyKind DirectionOf(const Place& src, const Place& dst);

}  // namespace sampan
