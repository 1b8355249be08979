// Measures ranks in a process of its own, whose devices have the engines that ranks need.
#pragma once

#include "answering_process.h"
#include "command.h"
#include "measurement.h"
#include "rank_plan.h"

namespace sampan::tool {

/// Made before this process starts the runtime; starts its own with the first measurement. Ends with this
/// process. Used by one thread.
class RanksProcess {
 public:
  explicit RanksProcess(const Arguments& arguments);

  /// Throws a Failure when the runtime refuses something, or when the process is gone. Without rounds after
  /// an interrupt.
  Measurement Measure(const RankPlan& plan, double seconds);

 private:
  AnsweringProcess process_;
};

}  // namespace sampan::tool
