// Copies that are timed while the runtime takes one way, and another one in turn.
#include "tune_trials.h"

#include <algorithm>

#include "measurement.h"

namespace sampan::tool {

std::vector<TuneWorker*> TrialRunner::WorkersFor(const std::vector<Variation>& ways) {
  std::erase_if(workers_, [&](const auto& worker) {
    return std::find(ways.begin(), ways.end(), worker->variation()) == ways.end();
  });
  std::vector<TuneWorker*> found;
  for (const Variation& way : ways) {
    auto at = std::find_if(workers_.begin(), workers_.end(),
                           [&](const auto& worker) { return worker->variation() == way; });
    if (at == workers_.end())
      at = workers_.insert(workers_.end(), std::make_unique<TuneWorker>(way, limits_));
    found.push_back(at->get());
  }
  return found;
}

std::vector<double> TrialRunner::InTurn(const std::vector<TuneWorker*>& workers, const CopyPlan& plan) {
  constexpr std::size_t kTurns = 5;
  for (TuneWorker* const worker : workers)
    worker->Begin(plan);
  std::vector<std::vector<double>> turns(workers.size());
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; i < workers.size(); ++i)
      turns[i].push_back(workers[i]->Measure(seconds_ / kTurns));
  }
  std::vector<double> medians;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    workers[i]->Verify();
    medians.push_back(Summarize(std::move(turns[i])).median_seconds);
    done_();
  }
  return medians;
}

std::vector<double> TrialRunner::Run(const Trials& trials) {
  const std::vector<TuneWorker*> workers = WorkersFor(trials.ways);
  std::vector<double> times(trials.size());
  for (std::size_t plan = 0; plan < trials.plans.size(); ++plan) {
    const std::vector<double> medians = InTurn(workers, trials.plans[plan]);
    for (std::size_t way = 0; way < medians.size(); ++way)
      times[way * trials.plans.size() + plan] = medians[way];
  }
  return times;
}

}  // namespace sampan::tool
