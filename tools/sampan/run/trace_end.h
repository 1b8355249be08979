// The end of a trace whose program was ended in the middle of a write.
#pragma once

#include <string>

namespace sampan::tool {

/// Gives the trace the closing bracket that it lacks, behind the last event that is whole. Does nothing to
/// one that has it, that is still written, or where there is none. A trace that cannot be mended stays as it
/// is and a note says why.
void CompleteTrace(const std::string& path);

}  // namespace sampan::tool
