// Which way bytes go between two addresses.
#pragma once

#include <optional>

#include "hccl/platform/dispatcher_task_types.h"

namespace sampan::hccl {

/// The link between two devices, by their numbers in this process; on the chip where they are one.
::hccl::LinkType LinkBetween(s32 device, s32 other);

/// The same by addresses; nothing where one of them is not device memory.
std::optional<::hccl::LinkType> LinkBetween(const void* dst, const void* src);

/// In words that the trace has too; the text stays.
const char* Name(::hccl::LinkType link);
/// Null where there is none, which is LINK_RESERVED.
inline const char* NameOrNull(::hccl::LinkType link) {
  return link == ::hccl::LinkType::LINK_RESERVED ? nullptr : Name(link);
}

}  // namespace sampan::hccl
