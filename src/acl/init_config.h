// The file that aclInit reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error/status.h"

namespace sampan::acl {

struct InitConfig {
  std::string text;  ///< as it stands in the file
  std::optional<std::int32_t> default_device;
};

/// Reads and checks the file; no path, or an empty one, gives an empty configuration.
Result<InitConfig> ReadInitConfig(const char* path);

}  // namespace sampan::acl
