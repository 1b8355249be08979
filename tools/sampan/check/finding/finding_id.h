// Ids of findings.
#pragma once

#include <string>

#include "tools/sampan/check/finding/finding.h"

namespace sampan::tool {

/// Eight digits from the kind and the places of the accesses. Folders, addresses, streams, threads and counts
/// do not matter. A finding without accesses has the place of its buffer.
std::string FindingId(const Finding& finding);

}  // namespace sampan::tool
