// The state that aclInit and aclFinalize set.
#pragma once

#include <cstdint>
#include <optional>

namespace sampan::acl {

/// The device that the init file sets for threads without one.
std::optional<std::int32_t> DefaultDevice();

/// What aclInit says about dumps of operators.
struct DumpState {
  bool initialized;  ///< aclInit was called and not undone
  bool set_by_file;  ///< its file has a dump of its own
};
DumpState DumpOfInit();

}  // namespace sampan::acl
