// Memory in a file, so that another process can read it when this one is gone.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sampan {

/// Creates the file with zeros, or empties it, and maps it for the rest of the process. The process holds a
/// lock on it until it ends, however that happens. Empty if the system refuses, or another process has it.
std::span<std::byte> MapSurvivingFile(const std::string& path, std::size_t bytes) noexcept;

/// Returns true if the process that locked the file still runs.
bool IsLocked(int file) noexcept;

}  // namespace sampan
