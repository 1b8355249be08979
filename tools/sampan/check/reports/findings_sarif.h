// The findings of a run as SARIF 2.1.0, which editors and code hosts read.
#pragma once

#include <string>

#include "tools/sampan/check/finding/finding.h"

namespace sampan::tool {

std::string FindingsSarif(const CheckedRun& run, int exit_status);

}  // namespace sampan::tool
