// The figures of `sampan bench` as a table, as JSON and as CSV.
#pragma once

#include <string>
#include <vector>

#include "bench_matrix.h"
#include "runtime_facts.h"

namespace sampan::tool {

struct BenchRun {
  RuntimeFacts facts;
  std::vector<BenchResult> results;
  std::size_t planned = 0;  ///< cases, of which an interrupt may have left some out

  bool interrupted() const { return results.size() < planned; }
  std::size_t CountFailed() const;
};

std::string BenchTable(const BenchRun& run);
std::string BenchJson(const BenchRun& run);
std::string BenchCsv(const BenchRun& run);

}  // namespace sampan::tool
