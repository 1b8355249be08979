// The findings of a run as one HTML page.
#pragma once

#include <string>

#include "tools/sampan/check/finding/finding.h"

namespace sampan::tool {

/// The page holds the source lines around every place that can be read here. `schedule` may be empty.
std::string FindingsPage(const CheckedRun& run, const std::string& schedule);

}  // namespace sampan::tool
