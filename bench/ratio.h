// Measures Sampan and an alternative in one run, alternately, and reports the ratio.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

#include "bench/measure/acl_call.h"
#include "bench/measure/failure.h"
#include "bench/measure/timing.h"

namespace bench {

/// Exits with the reason if the call failed, because google-benchmark catches no exceptions.
inline void Check(aclError code, const char* call) {
  try {
    Require(code, call);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    std::exit(1);
  }
}
#define BENCH_CHECK(call) ::bench::Check((call), #call)

/// Runs both alternately for as long as the benchmark asks. The time is Sampan's. The counters are medians:
/// the bytes or operations of each per second (in units of `amount`), and how many times faster Sampan is.
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
