// A finding as text for a terminal.
#pragma once

#include <string>

#include "tools/sampan/check/finding/finding.h"

namespace sampan::tool {

std::string FindingText(const Finding& finding);

/// What follows when the program is over: how often each finding was made, and the last line.
std::string SummaryText(const CheckedRun& run);

}  // namespace sampan::tool
