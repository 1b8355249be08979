// The type of link between two addresses.
#pragma once

#include <optional>

#include "hccl/platform/dispatcher_task_types.h"

namespace sampan::hccl {

/// The link between two devices, by their numbers in this process; LINK_ONCHIP if they are the same.
::hccl::LinkType LinkBetween(s32 device, s32 other);

/// The same by addresses; empty if one of them is not device memory.
std::optional<::hccl::LinkType> LinkBetween(const void* dst, const void* src);

/// The name in traces, a string literal.
const char* Name(::hccl::LinkType link);
/// The same; null for LINK_RESERVED, which means no link.
inline const char* NameOrNull(::hccl::LinkType link) {
  return link == ::hccl::LinkType::LINK_RESERVED ? nullptr : Name(link);
}

}  // namespace sampan::hccl
