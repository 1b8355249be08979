// Shipped results of similar machines, for comparison.
#pragma once

#include <filesystem>
#include <optional>

#include "tools/sampan/bench/bench_report.h"

namespace sampan::tool {

/// A reference is a file of `sampan bench --format json` in that folder. It fits if the backend is the same,
/// and the GPU (cuda) or the processor with its core count (emulated). Returns nothing if none fits. Prints a
/// note for files that cannot be read.
std::optional<Comparison> CompareWithReference(const BenchRun& run, const std::filesystem::path& folder);

}  // namespace sampan::tool
