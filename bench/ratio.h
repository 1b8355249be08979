// Measures Sampan and what a user would do instead, turn by turn in one run, and reports the ratio.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"

namespace bench {

inline void Check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed with %d\n%s\n", call, code, message != nullptr ? message : "");
  std::exit(1);
}
#define BENCH_CHECK(call) ::bench::Check((call), #call)

inline double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

template <typename Work>
double SecondsOf(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Runs both in turn for as long as the benchmark asks. The time is Sampan's; the counters are medians: what
/// each moves in a second (bytes or operations, as `amount` counts), and how many times faster Sampan is.
template <typename Ours, typename Instead>
void MeasureRatio(benchmark::State& state, double amount, Ours ours, Instead instead) {
  std::vector<double> our_times;
  std::vector<double> other_times;
  ours();
  instead();
  for ([[maybe_unused]] auto unused : state) {
    const double our_time = SecondsOf(ours);
    our_times.push_back(our_time);
    other_times.push_back(SecondsOf(instead));
    state.SetIterationTime(our_time);
  }
  const double our_median = Median(our_times);
  const double other_median = Median(other_times);
  state.counters["sampan/s"] = benchmark::Counter(amount / our_median);
  state.counters["instead/s"] = benchmark::Counter(amount / other_median);
  state.counters["ratio"] = benchmark::Counter(other_median / our_median);
}

}  // namespace bench
