// The error for a handle that names no live object.
#pragma once

#include <string_view>

#include "base/error/status.h"
#include "base/error/text.h"

namespace sampan::core {

/// `argument` is the name of the caller's argument, `kind` the expected kind of object.
inline Error DeadHandle(std::string_view argument, std::string_view kind, const void* handle) {
  return {Code::kInvalidHandle, Text(argument, " ", Hex(handle), " is not a living ", kind,
                                     ": destroyed, of another kind, or never made")};
}

}  // namespace sampan::core
