// The file that aclInit reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error/status.h"

namespace sampan::acl {

struct InitConfig {
  std::string text;  ///< the content of the file
  std::optional<std::int32_t> default_device;
};

/// Reads and checks the file. A null or empty path gives an empty configuration.
Result<InitConfig> ReadInitConfig(const char* path);

}  // namespace sampan::acl
