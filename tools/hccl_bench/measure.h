// Measures an operator of one size, on all ranks together.
#pragma once

#include <optional>
#include <string>

#include "bench/ranks/comm_rank.h"
#include "bench/ranks/open_mpi.h"
#include "bench/ranks/plain_traffic.h"
#include "options.h"

namespace hccl_bench {

enum class CheckResult { kNull, kSuccess, kFailed };

struct Measurement {
  u64 data_size;
  double seconds;  // of one run, on the slowest rank
  CheckResult check = CheckResult::kNull;
  std::string why;                      // why the check failed
  std::optional<double> other_seconds;  // of what it is measured beside
};

/// What it is measured beside. Both may be null.
struct Others {
  const bench::SharedBuffers* plain = nullptr;
  const bench::OpenMpi* mpi = nullptr;
};

/// Every rank calls it with the same arguments and gets the same result.
Measurement Measure(bench::CommRank& rank, const Options& options, const bench::OperatorCase& what,
                    const Others& others);

}  // namespace hccl_bench
