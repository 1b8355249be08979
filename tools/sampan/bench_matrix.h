// Which copies `sampan bench` measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "copy_case.h"
#include "measurement.h"

namespace sampan::tool {

struct BenchCase {
  std::string_view group;  ///< linear, 2d, batch or desc
  CopyPlan plan;
};

/// A case and what came of it.
struct BenchResult {
  BenchCase bench;
  Measurement measurement;
  std::string error;  ///< why there is no measurement

  bool failed() const { return !error.empty() || measurement.fault.has_value(); }
  bool measured() const { return measurement.rounds > 0 && !failed(); }
  double gigabytes_per_second(double seconds) const {
    return static_cast<double>(bench.plan.shape.payload()) / seconds / 1e9;
  }
};

inline const std::vector<std::string_view> kBenchGroups = {"linear", "2d", "batch", "desc"};

/// The cases of one group, or of all; path by path, sizes ascending.
std::vector<BenchCase> BenchMatrix(std::string_view group, const std::vector<std::size_t>& sizes,
                                   bool with_peer);

}  // namespace sampan::tool
