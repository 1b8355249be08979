// Copies that are timed while the runtime takes one way, and another one in turn.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tune_worker.h"

namespace sampan::tool {

/// Each of the copies is made by each of the ways.
struct Trials {
  std::vector<Variation> ways;
  std::vector<CopyPlan> plans;

  std::size_t size() const { return ways.size() * plans.size(); }
};

class TrialRunner {
 public:
  /// Every copy is measured for about so long. `done` is called after each trial.
  TrialRunner(const cuda::PathLimits& limits, double seconds, std::function<void()> done)
      : limits_(limits), seconds_(seconds), done_(std::move(done)) {}

  /// The median seconds of the copies, in their order, by the first way, then by the next. Each way has a
  /// process of its own, and they take turns: a machine that is slower for a while is so for all. Throws a
  /// Failure when the runtime refuses a copy or bytes are wrong.
  std::vector<double> Run(const Trials& trials);

 private:
  /// A worker for each of the ways; those of the last trials that have none here end first.
  std::vector<TuneWorker*> WorkersFor(const std::vector<Variation>& ways);
  std::vector<double> InTurn(const std::vector<TuneWorker*>& workers, const CopyPlan& plan);

  const cuda::PathLimits limits_;
  const double seconds_;
  const std::function<void()> done_;
  std::vector<std::unique_ptr<TuneWorker>> workers_;
};

}  // namespace sampan::tool
