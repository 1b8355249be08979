// The cases of `sampan bench`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/copies/copy_case.h"
#include "bench/copies/measurement.h"
#include "tools/sampan/bench/ranks/rank_plan.h"
#include "tools/sampan/bench/taken_path.h"

namespace sampan::tool {

struct BenchCase {
  std::string_view group;  ///< linear, 2d, batch, desc or hccl
  std::string call;
  std::string path;
  std::size_t bytes = 0;  ///< of one call; 0 for a signal
  std::size_t piece_bytes = 0, pieces = 1;
  std::variant<bench::CopyPlan, RankPlan> plan;

  bool has_rate() const { return bytes != 0; }
  /// The name of the case for messages.
  std::string Describe() const;
};

/// A case and its result.
struct BenchResult {
  BenchCase bench;
  bench::Measurement measurement;
  std::string error;               ///< why there is no measurement
  std::optional<TakenPath> taken;  ///< if it was asked for

  bool failed() const { return !error.empty() || measurement.fault.has_value(); }
  bool measured() const { return measurement.rounds > 0 && !failed(); }
  double gigabytes_per_second(double seconds) const {
    return static_cast<double>(bench.bytes) / seconds / 1e9;
  }
};

/// Returns true if a group, or all groups together, has cases of ranks.
bool HasRanks(std::string_view group);

/// The cases of one group, or of all groups, ordered by path and size.
std::vector<BenchCase> BenchMatrix(std::string_view group, const std::vector<std::size_t>& sizes,
                                   bool with_peer);

}  // namespace sampan::tool
