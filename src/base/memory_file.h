// Memory files without a name, which processes of the same user can map.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/status.h"

namespace sampan {

/// A file of zeros in memory that its user alone may open. A failure has the code, and says what is missing.
Result<Descriptor> CreateMemoryFile(const std::string& name, std::uint64_t bytes, Code failure);

}  // namespace sampan
