// Measures ranks in a process of its own, whose devices have the engines that ranks need.
#pragma once

#include <sys/types.h>

#include <string>

#include "command.h"
#include "measurement.h"
#include "rank_plan.h"

namespace sampan::tool {

/// Made before this process starts the runtime; starts its own with the first measurement. Ends with this
/// process. Used by one thread.
class RanksProcess {
 public:
  explicit RanksProcess(const Arguments& arguments);
  ~RanksProcess();
  RanksProcess(const RanksProcess&) = delete;
  RanksProcess& operator=(const RanksProcess&) = delete;

  /// Throws a Failure when the runtime refuses something, or when the process is gone. Without rounds after
  /// an interrupt.
  Measurement Measure(const RankPlan& plan, double seconds);

 private:
  bool AwaitAnswer() const;
  std::string WhyGone();

  int connection_ = -1;
  pid_t process_ = -1;
};

}  // namespace sampan::tool
