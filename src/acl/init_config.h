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
  bool sets_dump = false;  ///< `dump` is an object with a member
};

/// The text of a regular file.
Result<std::string> ReadConfigText(const char* path);

/// Objects, and arrays, nest no deeper than this.
inline constexpr int kMaxNesting = 10;

/// Reads and checks the file. A null or empty path gives an empty configuration.
Result<InitConfig> ReadInitConfig(const char* path);

}  // namespace sampan::acl
