// Which limits `sampan tune` measures, by which copies, and what the times say.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tune_trials.h"

namespace sampan::tool {

/// One limit, or a number of blocks.
struct Question {
  Trials trials;
  /// Puts the answer into the limits; the times are what TrialRunner gives for the trials.
  std::function<void(std::span<const double> times, cuda::PathLimits& limits)> conclude;
};

std::vector<Question> AllQuestions();

}  // namespace sampan::tool
