// The results of `sampan bench` as a table, as JSON and as CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/copies/alternative.h"
#include "tools/sampan/bench/bench_matrix.h"
#include "tools/sampan/shared/process/runtime_facts.h"

namespace sampan::tool {

/// The speed of a run relative to reference results, over the cases that both have.
struct Comparison {
  std::string reference;  ///< the name of its file
  std::size_t cases = 0;
  double median = 0;  ///< of the rates of this run divided by the reference's
  double slowest = 0;
  std::string slowest_case;
};

struct BenchRun {
  RuntimeFacts facts;
  std::string gpu;  ///< its name, if the backend is cuda
  std::uint32_t gpus_of_ranks = 0;
  bool has_paths = false;  ///< the results say which path was taken
  bool is_beside = false;  ///< the results have figures beside kernels
  std::vector<BenchResult> results;
  std::optional<Comparison> comparison;
  std::optional<double> others;  ///< the share of the cores that other processes used during the run
  std::size_t planned = 0;       ///< all cases; an interrupt may leave out some

  const std::string& backend() const { return facts.Value("SAMPAN_BACKEND"); }
  std::string alternative() const { return std::string(bench::AlternativeName(backend())); }
  /// If true, slow results say nothing about Sampan.
  bool busy() const { return others.value_or(0) > 0.1; }
  bool interrupted() const { return results.size() < planned; }
  std::size_t CountFailed() const;
};

std::string BenchTable(const BenchRun& run);
std::string BenchJson(const BenchRun& run);
std::string BenchCsv(const BenchRun& run);

}  // namespace sampan::tool
