// Rates over sizes as a picture: one self-contained SVG file.
#pragma once

#include <string>
#include <vector>

#include "tools/sampan/bench/bench_matrix.h"

namespace sampan::tool {

/// A chart for each group, one below the other. Both axes are logarithmic. A line for each path, a dashed one
/// of the same colour for its memcpy loop.
std::string BenchPlot(const std::vector<BenchResult>& results, const std::string& alternative);

}  // namespace sampan::tool
