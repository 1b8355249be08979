// Memory files without a name, which processes of the same user can map.
#pragma once

#include <cstdint>
#include <string>

#include "base/error/status.h"
#include "base/system/descriptor.h"

namespace sampan {

/// A file of zeros in memory that only its user may open. Its size is sealed. A failure has the code and says
/// what is missing.
Result<Descriptor> CreateMemoryFile(const std::string& name, std::uint64_t bytes, Code failure);

/// True if another process's file can be mapped without harm: it is this user's, has at least so many bytes,
/// and cannot shrink. Otherwise its owner could make every access fail with SIGBUS.
bool IsSafeToMap(int file, std::uint64_t min_bytes);

}  // namespace sampan
