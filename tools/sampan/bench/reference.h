// Shipped results of similar machines, for comparison.
#pragma once

#include <filesystem>
#include <optional>

#include "tools/sampan/bench/bench_report.h"

namespace sampan::tool {

/// A reference is a file of `sampan bench --format json` in that folder. It fits if backend and GPU are the
/// same (cuda), or backend, processor and core count (emulated). Returns nothing if none fits. Prints a note
/// for files that cannot be read.
std::optional<Comparison> CompareWithReference(const BenchRun& run, const std::filesystem::path& folder);

}  // namespace sampan::tool
