// The place of a trace that a program is about to write.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sampan::tool {

/// Plain or compressed, a trace has its name in so many bytes at its beginning.
inline constexpr std::size_t kTraceHeadBytes = 128;
bool IsTraceHead(std::string_view beginning);

/// Removes the trace that an earlier run left there, because programs never overwrite one. Throws a Failure
/// when the file is something else, or when none can be made.
void MakeRoomForTrace(const std::string& path);

}  // namespace sampan::tool
