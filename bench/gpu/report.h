// Collects measurements, prints them as a table, writes them as JSON.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace bench {

inline double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

inline double SecondsOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// In GB/s; 0 where nothing was measured.
inline double Rate(std::size_t bytes, double seconds) {
  return seconds == 0 ? 0 : static_cast<double>(bytes) / seconds / 1e9;
}

/// Median seconds of each. They take turns, the first one changing, so that none of them alone meets what
/// changes with time: a GPU that is still raising its clocks after a pause, a processor that others use too.
/// A turn is several in a row, more of them when there are many rounds, after one that does not count. An
/// empty function is not measured.
inline std::vector<double> Measure(const std::vector<std::function<void()>>& works, int rounds) {
  constexpr double kWarmUpSeconds = 0.03;
  const int in_a_row = rounds >= 30 ? 10 : 3;
  const auto run_all = [&] {
    for (const auto& work : works)
      if (work) work();
  };
  for (double spent = 0; spent < kWarmUpSeconds;)
    spent += SecondsOf(run_all);
  std::vector<std::vector<double>> times(works.size());
  for (int turn = 0; turn < (rounds + in_a_row - 1) / in_a_row; ++turn) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const std::size_t which = (i + static_cast<std::size_t>(turn)) % works.size();
      if (!works[which]) continue;
      works[which]();
      for (int round = 0; round < in_a_row; ++round)
        times[which].push_back(SecondsOf(works[which]));
    }
  }
  std::vector<double> medians;
  for (auto& each : times)
    medians.push_back(Median(std::move(each)));
  return medians;
}

/// One line of the result. Figures are in `unit`; in GB/s more is better, in us less.
struct Row {
  std::string group, direction;
  std::size_t entry_bytes = 0, entries = 1;
  std::string unit = "GB/s";
  double ours = 0, call = 0, loop = 0;  ///< 0: not measured
  double bar = 0;                       ///< for the ratio, or with bar_of_figure for ours; 0: none
  bool bar_of_figure = false;

  bool less_is_better() const { return unit == "us"; }
  /// How many times better ours is than the best of the driver's.
  double ratio() const {
    if (call == 0 && loop == 0) return 0;
    if (less_is_better()) return std::min(call == 0 ? loop : call, loop == 0 ? call : loop) / ours;
    return ours / std::max(call, loop);
  }
  bool met() const {
    if (bar == 0) return true;
    if (!bar_of_figure) return ratio() >= bar;
    return less_is_better() ? ours <= bar : ours >= bar;
  }
};

class Report {
 public:
  void Add(Row row) {
    if (rows_.empty() || rows_.back().group != row.group) {
      std::printf("\n%-34s %-4s %10s %8s %10s %10s %10s %8s  %s\n", row.group.c_str(), "dir", "bytes",
                  "entries", "Sampan", "call", "loop", "ratio", "bar");
    }
    std::printf("%-34s %-4s %10zu %8zu %10.3f %10.3f %10.3f %8.2f", "", row.direction.c_str(),
                row.entry_bytes, row.entries, row.ours, row.call, row.loop, row.ratio());
    if (row.bar != 0)
      std::printf("  %s %.2f%s", row.met() ? "met" : "NOT", row.bar, row.bar_of_figure ? " own" : "");
    std::printf("\n");
    std::fflush(stdout);
    rows_.push_back(std::move(row));
  }

  bool WriteJson(const char* path, const std::string& machine) const {
    std::FILE* const file = std::fopen(path, "w");
    if (file == nullptr) return false;
    std::fprintf(file, "{\"machine\": \"%s\", \"rows\": [\n", machine.c_str());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      std::fprintf(
          file,
          " {\"group\": \"%s\", \"direction\": \"%s\", \"bytes\": %zu, \"entries\": %zu, \"unit\": \"%s\", "
          "\"sampan\": %.4f, \"driver_call\": %.4f, \"driver_loop\": %.4f, \"ratio\": %.4f, \"bar\": %.3f, "
          "\"bar_of\": \"%s\", \"met\": %s}%s\n",
          row.group.c_str(), row.direction.c_str(), row.entry_bytes, row.entries, row.unit.c_str(), row.ours,
          row.call, row.loop, row.ratio(), row.bar, row.bar_of_figure ? "sampan" : "ratio",
          row.met() ? "true" : "false", i + 1 < rows_.size() ? "," : "");
    }
    std::fprintf(file, "]}\n");
    return std::fclose(file) == 0;
  }

  std::size_t Missed() const {
    return static_cast<std::size_t>(
        std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return !row.met(); }));
  }

 private:
  std::vector<Row> rows_;
};

}  // namespace bench
