// The figures of `sampan bench` as a table, as JSON and as CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/copies/alternative.h"
#include "tools/sampan/bench/bench_matrix.h"
#include "tools/sampan/shared/process/runtime_facts.h"

namespace sampan::tool {

/// How fast a run was beside reference results, over the cases that both have.
struct Comparison {
  std::string reference;  ///< the name of its file
  std::size_t cases = 0;
  double median = 0;  ///< of the rates here over the rates there
  double slowest = 0;
  std::string slowest_case;
};

struct BenchRun {
  RuntimeFacts facts;
  std::string gpu;  ///< its name where the backend is cuda
  std::uint32_t gpus_of_ranks = 0;
  std::vector<BenchResult> results;
  std::optional<Comparison> comparison;
  std::optional<double> others;  ///< the share of the cores that other processes used during the run
  std::size_t planned = 0;       ///< cases, of which an interrupt may have left some out

  const std::string& backend() const { return facts.Value("SAMPAN_BACKEND"); }
  std::string alternative() const { return std::string(bench::AlternativeName(backend())); }
  /// Slow figures say nothing about Sampan then.
  bool busy() const { return others.value_or(0) > 0.1; }
  bool interrupted() const { return results.size() < planned; }
  std::size_t CountFailed() const;
};

std::string BenchTable(const BenchRun& run);
std::string BenchJson(const BenchRun& run);
std::string BenchCsv(const BenchRun& run);

}  // namespace sampan::tool
