// Runs, times and checks a collective.
#include "measure.h"

#include <algorithm>

#include "bench/measure/timing.h"
#include "bench/ranks/ranks_together.h"

namespace hccl_bench {
namespace {

using bench::SlowestRank;
using collectives::Rank;

/// How often the collective and plain copies alternate. The medians are reported.
constexpr std::size_t kTurns = 5;

}  // namespace

Measurement Measure(Rank& rank, const Options& options, const collectives::Case& what,
                    const bench::SharedBuffers* plain) {
  Measurement result{};
  result.data_size = bench::DataSize(what, options.launch.size);
  if (options.check) {
    result.why = bench::WhyWrong(rank, what);
    result.check = result.why.empty() ? CheckResult::kSuccess : CheckResult::kFailed;
  }
  const auto run = [&](u32 times) {
    for (u32 i = 0; i < times; ++i)
      collectives::RunCase(rank, what);
    rank.Synchronize();
  };
  run(options.warm_up);
  if (plain == nullptr) {
    result.seconds = SlowestRank(rank, [&] { run(options.iterations); }) / options.iterations;
    return result;
  }
  const bench::Transfers transfers = bench::TransfersOf(what, rank.rank(), plain->all());
  const auto copy = [&](u32 times) {
    for (u32 i = 0; i < times; ++i)
      bench::Perform(transfers);
  };
  copy(std::max<u32>(1, options.warm_up));
  const auto times = bench::TakeTurns({[&] { return SlowestRank(rank, [&] { run(options.iterations); }); },
                                       [&] { return SlowestRank(rank, [&] { copy(options.iterations); }); }},
                                      [](std::size_t turns) { return turns < kTurns; });
  result.seconds = bench::Median(times[0]) / options.iterations;
  result.memcpy_seconds = bench::Median(times[1]) / options.iterations;
  return result;
}

}  // namespace hccl_bench
