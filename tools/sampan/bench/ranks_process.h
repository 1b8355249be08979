// Measures ranks in a process of its own, whose devices have the engines that ranks need.
#pragma once

#include "bench/copies/measurement.h"
#include "tools/sampan/bench/ranks/rank_plan.h"
#include "tools/sampan/bench/worker_process.h"
#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {

/// Made before this process starts the runtime; starts its own with the first measurement. Ends with this
/// process. Used by one thread.
class RanksProcess {
 public:
  explicit RanksProcess(const Arguments& arguments);

  /// Throws a Failure when the runtime refuses something, or when the process is gone. Without rounds after
  /// an interrupt.
  bench::Measurement Measure(const RankPlan& plan, double seconds);

 private:
  WorkerProcess process_;
};

}  // namespace sampan::tool
