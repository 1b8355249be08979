// The state that aclInit and aclFinalize set.
#pragma once

#include <cstdint>
#include <optional>

namespace sampan::acl {

/// The device that the init file sets for threads without one.
std::optional<std::int32_t> DefaultDevice();

}  // namespace sampan::acl
