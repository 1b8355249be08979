// Rates of copies alone and beside a program's kernels, as rows of the report.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "bench/copies/disturbance.h"
#include "bench/gpu/report.h"

namespace bench {

/// The least rates, and the kernels' longest times. 0: no bar.
struct QuietBars {
  double alone = 0, times_arithmetic = 0, rate_arithmetic = 0, times_memory = 0, rate_memory = 0;
  double over_call = 0;  ///< the rate alone over that of the driver's call
};

/// Adds rate and disturbance of copies to the report.
class QuietRows {
 public:
  explicit QuietRows(Report& report) : report_(report) {
    std::printf("\nFMA kernel %.3f ms, memory kernel %.3f ms\n", meter_.arithmetic_ms(), meter_.memory_ms());
  }

  /// `row` has the name of the group and the shape of the copies. `call`: the driver's, if there is one.
  void Measure(const Row& row, const CopyLoop& copies, const QuietBars& bars,
               const std::function<void()>& call = {}) {
    const auto times = MedianSeconds({[&] { copies.submit(0), copies.drain(); }, call}, 15);
    const auto [arithmetic, memory] = meter_.Measure(copies);
    const double alone = Rate(copies.bytes, times[0]);
    std::printf("%-46s %s %6zu x %6zu  alone %6.2f  FMA %.3f x, %6.2f  memory %.3f x, %6.2f",
                row.group.c_str(), row.direction.c_str(), row.entry_bytes, row.entries, alone,
                arithmetic.kernel_times, arithmetic.rate, memory.kernel_times, memory.rate);
    const auto add = [&](const char* what, const char* unit, double figure, double bar) {
      Row added = row;
      added.group += std::string(": ") + what;
      added.unit = unit;
      added.ours = figure;
      added.bar = bar;
      added.bar_of_figure = true;
      if (!added.met()) std::printf("  NOT %s %.2f", what, bar);
      report_.Keep(added);
    };
    add("alone", "GB/s", alone, bars.alone);
    add("FMA kernel", "x", arithmetic.kernel_times, bars.times_arithmetic);
    add("beside FMA", "GB/s", arithmetic.rate, bars.rate_arithmetic);
    add("memory kernel", "x", memory.kernel_times, bars.times_memory);
    add("beside memory", "GB/s", memory.rate, bars.rate_memory);
    if (call) {
      Row against = row;
      against.group += ": against the batch call";
      against.ours = alone;
      against.call = Rate(copies.bytes, times[1]);
      against.bar = bars.over_call;
      std::printf("  call %6.2f%s", against.call, against.met() ? "" : " NOT");
      report_.Keep(against);
    }
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  Report& report_;
  DisturbanceMeter meter_;
};

}  // namespace bench
