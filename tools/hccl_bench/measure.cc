// Runs, clocks and checks.
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "check.h"
#include "verified_run.h"

namespace hccl_bench {
namespace {

using collectives::Check;
using collectives::Rank;

/// How often the collective and plain copies take turns; the medians count.
constexpr int kTurns = 5;

/// What every rank says, by rank.
std::vector<std::string> Tell(Rank& rank, const std::string& mine) {
  std::vector<std::vector<u8>> all;
  Check(rank.group().Exchange({mine.begin(), mine.end()}, all));
  std::vector<std::string> texts;
  for (const std::vector<u8>& text : all)
    texts.emplace_back(text.begin(), text.end());
  return texts;
}

/// Seconds that the slowest rank needed. All begin together.
double SlowestRank(Rank& rank, const std::function<void()>& work) {
  Check(rank.group().Barrier());
  const auto begin = std::chrono::steady_clock::now();
  work();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  double slowest = 0;
  for (const std::string& text : Tell(rank, std::to_string(static_cast<s64>(seconds * 1e9))))
    slowest = std::max(slowest, std::stod(text) * 1e-9);
  return slowest;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The same answer on every rank: a reason when the result of any rank is wrong.
std::string WhyWrong(Rank& rank, const collectives::Case& what) {
  std::string mine;
  try {
    collectives::RunVerified(rank, what);
  } catch (const collectives::Mismatch& wrong) {
    mine = wrong.what();
  }
  for (const std::string& text : Tell(rank, mine)) {
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace

Measurement Measure(Rank& rank, const Options& options, const collectives::Case& what,
                    const PlainCopies* plain) {
  Measurement result{};
  result.data_size = DataSize(options, what);
  if (options.check) {
    result.why = WhyWrong(rank, what);
    result.check = result.why.empty() ? CheckResult::kSuccess : CheckResult::kFailed;
  }
  const auto run = [&](u32 times) {
    for (u32 i = 0; i < times; ++i)
      collectives::RunCase(rank, what);
    rank.Synchronize();
  };
  const auto copy = [&](u32 times) {
    for (u32 i = 0; i < times; ++i)
      plain->Run(rank.rank(), what);
  };
  run(options.warm_up);
  if (plain == nullptr) {
    result.seconds = SlowestRank(rank, [&] { run(options.iterations); }) / options.iterations;
    return result;
  }
  copy(std::max<u32>(1, options.warm_up));
  std::vector<double> seconds, memcpy_seconds;
  for (int turn = 0; turn < kTurns; ++turn) {
    seconds.push_back(SlowestRank(rank, [&] { run(options.iterations); }));
    memcpy_seconds.push_back(SlowestRank(rank, [&] { copy(options.iterations); }));
  }
  result.seconds = Median(seconds) / options.iterations;
  result.memcpy_seconds = Median(memcpy_seconds) / options.iterations;
  return result;
}

}  // namespace hccl_bench
