// The place of a trace that a program is about to write.
#pragma once

#include <string>

namespace sampan::tool {

/// Removes the trace that an earlier run left there, because programs never overwrite one. Throws a Failure
/// when the file is something else, or when none can be made.
void MakeRoomForTrace(const std::string& path);

}  // namespace sampan::tool
