// Completes a trace of a program that was killed during a write.
#pragma once

#include <string>

namespace sampan::tool {

/// Adds the missing closing bracket after the last complete event. Does nothing if the trace has it, is still
/// written, or does not exist. If the trace cannot be completed, it stays unchanged and a note says why.
void CompleteTrace(const std::string& path);

}  // namespace sampan::tool
