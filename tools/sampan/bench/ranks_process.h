// Measures ranks in a child process. Its devices have as many engines as ranks need.
#pragma once

#include "bench/copies/measurement.h"
#include "tools/sampan/bench/ranks/rank_plan.h"
#include "tools/sampan/bench/worker_process.h"
#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {

/// Create it before this process starts the runtime. The child starts its runtime at the first measurement,
/// and exits with this process. Not thread-safe.
class RanksProcess {
 public:
  explicit RanksProcess(const Arguments& arguments);

  /// Throws a Failure if the runtime refuses something or the process is gone. The result has no rounds after
  /// an interrupt.
  bench::Measurement Measure(const RankPlan& plan, double seconds);

 private:
  WorkerProcess process_;
};

}  // namespace sampan::tool
