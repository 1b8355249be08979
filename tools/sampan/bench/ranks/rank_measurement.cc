// Times the work of ranks with and without the runtime, alternately.
#include "tools/sampan/bench/ranks/rank_measurement.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/ranks/ranks_together.h"
#include "launch.h"
#include "tools/sampan/bench/ranks/rank_work.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/process/interrupt.h"

namespace sampan::tool {
namespace {

using collectives::Rank;

constexpr double kMinRoundSeconds = 0.5e-3;
constexpr u32 kMaxRuns = 10'000;
constexpr std::size_t kMaxRounds = 100'000;
constexpr int kWarmUps = 3;

/// The number of runs in a round, the same on every rank.
u32 RunsOfRound(Rank& rank, const std::function<void(u32)>& run) {
  u32 runs = 1;
  while (runs < kMaxRuns) {
    const double seconds = bench::SlowestRank(rank.group(), [&] { run(runs); });
    if (seconds >= kMinRoundSeconds) break;
    runs = std::clamp(static_cast<u32>(runs * 1.2 * kMinRoundSeconds / std::max(seconds, 1e-9)), runs + 1,
                      std::min(kMaxRuns, 8 * runs));
  }
  return runs;
}

/// Seconds of one run, for each round: with the runtime and without it.
std::vector<std::vector<double>> MeasureRounds(Rank& rank, RankWork& work, double seconds) {
  const auto run = [&](u32 times) { work.Run(times); };
  const auto run_plain = [&](u32 times) { work.RunPlain(times); };
  for (int i = 0; i < kWarmUps; ++i)
    run(1);
  run_plain(1);
  const u32 runs = RunsOfRound(rank, run);
  const u32 plain_runs = RunsOfRound(rank, run_plain);
  // The first rank decides, because other ranks read the clock and get the interrupt at other times.
  const auto mine = bench::Until(
      {.seconds = seconds, .max_turns = kMaxRounds, .stopped = [] { return Interrupted() != 0; }});
  const auto goes_on = [&](std::size_t turns) {
    return bench::Tell(rank.group(), mine(turns) ? "on" : "").front() == "on";
  };
  return bench::TakeTurns(
      {[&] { return bench::SlowestRank(rank.group(), [&] { run(runs); }) / runs; },
       [&] { return bench::SlowestRank(rank.group(), [&] { run_plain(plain_runs); }) / plain_runs; }},
      goes_on);
}

/// A run of signals consists of two signals.
bench::Timing TimingOf(std::vector<double> times, const RankPlan& plan) {
  if (plan.kind == RankPlan::Kind::kSignal) {
    for (double& seconds : times)
      seconds /= 2;
  }
  return bench::Summarize(times);
}

}  // namespace

bench::Measurement MeasureRanks(const RankPlan& plan, double seconds, std::string_view alternative) {
  constexpr s32 kMaxSeconds = 60;
  RankStage stage(plan, alternative);
  bench::Measurement result;
  const auto failed = collectives::RunRanks({RankPlan::kRanks, collectives::Form::kThreads, kMaxSeconds},
                                            [&](const collectives::Seat& seat) {
                                              Rank rank(seat, stage.room);
                                              const auto work = MakeRankWork(rank, stage);
                                              const auto rounds = MeasureRounds(rank, *work, seconds);
                                              const std::string fault = work->FindFault();
                                              if (seat.rank != 0 || rounds[0].empty()) return;
                                              result.rounds = rounds[0].size();
                                              result.sampan = TimingOf(rounds[0], plan);
                                              result.alternative = TimingOf(rounds[1], plan);
                                              if (!fault.empty()) result.fault = fault;
                                            });
  if (failed.empty()) return result;
  const std::string& why = failed.front().failure;
  if (why.find("returned " + std::to_string(ACL_ERROR_RT_FEATURE_NOT_SUPPORT)) != std::string::npos)
    return {.offered = false};
  throw Failure(kCheckFailed, CallOf(plan) + ", " + PathName(plan) + ": rank " +
                                  std::to_string(failed.front().rank) + ": " + why.substr(0, why.find('\n')));
}

}  // namespace sampan::tool
