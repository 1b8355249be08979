// The options of hccl_bench.
#pragma once

#include <string>
#include <vector>

#include "case.h"
#include "launch.h"

namespace hccl_bench {

using collectives::Collective;

enum ExitStatus : int { kSuccess = 0, kFailed = 1, kBadUsage = 2 };

struct Options {
  Collective collective = Collective::kRingAllReduce;
  collectives::Launch launch = {2, collectives::Form::kThreads};
  std::vector<u64> sizes;  // bytes, ascending
  collectives::Reduction reduction = {HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM};
  u32 root = 0;
  u32 iterations = 20;
  u32 warm_up = 5;
  bool check = true;
  bool compare_with_memcpy = false;
};

/// Parses the command line. Returns false if there is nothing to run (--help, or an error, which it prints),
/// and sets the exit status.
bool ParseOptions(int argc, char** argv, Options& options, int& status);

/// The case of about `size` bytes, the larger of a rank's input and output.
collectives::Case CaseOf(const Options& options, u64 size);

}  // namespace hccl_bench
