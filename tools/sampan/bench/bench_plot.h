// Plots rates over sizes as one self-contained SVG file.
#pragma once

#include <string>
#include <vector>

#include "tools/sampan/bench/bench_matrix.h"

namespace sampan::tool {

/// One chart per group, below each other. Both axes are logarithmic. One line per path, and a dashed line of
/// the same colour for its memcpy loop.
std::string BenchPlot(const std::vector<BenchResult>& results, const std::string& alternative);

}  // namespace sampan::tool
