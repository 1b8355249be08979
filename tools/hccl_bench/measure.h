// Measures a collective of one size, on all ranks together.
#pragma once

#include <optional>
#include <string>

#include "bench/ranks/plain_traffic.h"
#include "options.h"

namespace hccl_bench {

enum class CheckResult { kNull, kSuccess, kFailed };

struct Measurement {
  u64 data_size;
  double seconds;  // of one run, on the slowest rank
  CheckResult check = CheckResult::kNull;
  std::string why;                       // why the check failed
  std::optional<double> memcpy_seconds;  // of the same traffic without a runtime
};

/// Every rank calls it with the same arguments and gets the same result. `plain` may be null.
Measurement Measure(collectives::Rank& rank, const Options& options, const collectives::Case& what,
                    const bench::SharedBuffers* plain);

}  // namespace hccl_bench
