// Anonymous memory files that processes of the same user can map.
#pragma once

#include <cstdint>
#include <string>

#include "base/error/status.h"
#include "base/system/descriptor.h"

namespace sampan {

/// Creates a file of zeros in memory. Only the same user can open it. Its size is sealed. On failure the
/// error has the code `failure`.
Result<Descriptor> CreateMemoryFile(const std::string& name, std::uint64_t bytes, Code failure);

/// Returns true if another process's file is safe to map: the same user owns it, it has at least `min_bytes`
/// bytes, and it cannot shrink. If it shrinks, accesses fail with SIGBUS.
bool IsSafeToMap(int file, std::uint64_t min_bytes);

}  // namespace sampan
