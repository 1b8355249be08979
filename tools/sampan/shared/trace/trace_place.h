// Prepares the path of a trace that a program will write.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sampan::tool {

/// A plain or compressed trace has its name in this many bytes at its beginning.
inline constexpr std::size_t kTraceHeadBytes = 128;
bool IsTraceHead(std::string_view beginning);

/// Removes the trace of an earlier run, because programs never overwrite one. Throws a Failure if the file is
/// something else, or if no file can be created.
void MakeRoomForTrace(const std::string& path);

}  // namespace sampan::tool
