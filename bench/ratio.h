// Measures Sampan and what a user would do instead, turn by turn in one run, and reports the ratio.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

#include "bench/measure/acl_call.h"
#include "bench/measure/failure.h"
#include "bench/measure/timing.h"

namespace bench {

/// Ends the program with the reason when the call failed: google-benchmark catches nothing.
inline void Check(aclError code, const char* call) {
  try {
    Require(code, call);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    std::exit(1);
  }
}
#define BENCH_CHECK(call) ::bench::Check((call), #call)

/// Runs both in turn for as long as the benchmark asks. The time is Sampan's; the counters are medians: what
/// each moves in a second (bytes or operations, as `amount` counts), and how many times faster Sampan is.
template <typename Ours, typename Instead>
void MeasureRatio(benchmark::State& state, double amount, Ours ours, Instead instead) {
  ours();
  instead();
  const auto timed_ours = [&] {
    const double seconds = SecondsOf(ours);
    state.SetIterationTime(seconds);
    return seconds;
  };
  const auto times =
      TakeTurns({timed_ours, Timed(std::cref(instead))}, [&](std::size_t) { return state.KeepRunning(); });
  const double our_median = Median(times[0]);
  const double other_median = Median(times[1]);
  state.counters["sampan/s"] = benchmark::Counter(amount / our_median);
  state.counters["instead/s"] = benchmark::Counter(amount / other_median);
  state.counters["ratio"] = benchmark::Counter(other_median / our_median);
}

}  // namespace bench
