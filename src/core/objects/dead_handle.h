// The refusal of a handle that names no living object.
#pragma once

#include <string_view>

#include "base/error/status.h"
#include "base/error/text.h"

namespace sampan {

/// argument: what the caller knows the handle as; kind: what it should have been.
inline Error DeadHandle(std::string_view argument, std::string_view kind, const void* handle) {
  return {Code::kInvalidHandle, Text(argument, " ", Hex(handle), " is not a living ", kind,
                                     ": destroyed, of another kind, or never made")};
}

}  // namespace sampan
