// The options of hccl_bench.
#pragma once

#include <string>
#include <vector>

#include "bench/ranks/operator_case.h"
#include "launch.h"

namespace hccl_bench {

enum ExitStatus : int { kSuccess = 0, kFailed = 1, kBadUsage = 2 };

/// What every size is measured beside.
enum class Other { kNothing, kMemcpy, kMpi };

struct Options {
  bench::OperatorCase what;  // all but its count
  collectives::Launch launch = {2, collectives::Form::kThreads};
  bool under_mpirun = false;
  std::vector<u64> sizes;  // bytes, ascending
  u32 iterations = 20;
  u32 warm_up = 5;
  bool check = true;
  std::string address, token_file;  // of ranks of several hosts
  Other other = Other::kNothing;
};

/// Parses the command line. `mpirun_ranks`: how many ranks mpirun started, 0 without it. Returns false if
/// there is nothing to run (--help, or an error, which it prints), and sets the exit status.
bool ParseOptions(int argc, char** argv, u32 mpirun_ranks, Options& options, int& status);

/// The case of about `size` bytes, the larger of a rank's input and output.
bench::OperatorCase CaseOf(const Options& options, u64 size);

}  // namespace hccl_bench
