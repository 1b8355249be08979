// Anonymous memory files that processes of the same user can map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error/status.h"
#include "base/system/descriptor.h"

namespace sampan {

/// Creates a file of zeros in memory. Only the same user can open it. Its size is sealed. On failure the
/// error has the code `failure`.
Result<Descriptor> CreateMemoryFile(const std::string& name, std::uint64_t bytes, Code failure);

/// The bytes of the pages that a memory file has, also in swap. 0 if the file is not open.
std::size_t TakenBytes(int memory_file);

/// Returns true if another process's file is safe to map: the same user owns it, it has at least `min_bytes`
/// bytes, and it cannot shrink. If it shrinks, accesses fail with SIGBUS.
bool IsSafeToMap(int file, std::uint64_t min_bytes);

}  // namespace sampan
