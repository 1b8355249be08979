// Results that were measured before on a machine like this one, shipped to compare with.
#pragma once

#include <filesystem>
#include <optional>

#include "tools/sampan/bench/bench_report.h"

namespace sampan::tool {

/// A reference is a file of `sampan bench --format json` in that folder; it fits when the backend is the
/// same, and with it the GPU, or processor and number of cores. Nothing when none fits. Files that cannot be
/// read are named in a note.
std::optional<Comparison> CompareWithReference(const BenchRun& run, const std::filesystem::path& folder);

}  // namespace sampan::tool
