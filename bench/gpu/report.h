// Collects measurements, prints them as a table, writes them as JSON.
#pragma once

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/timing.h"

namespace bench {

/// Median seconds of each function, after a warm-up, because a GPU raises its clocks after a pause. A turn is
/// several calls in a row. An empty function is not measured.
inline std::vector<double> MedianSeconds(const std::vector<std::function<void()>>& works, int rounds) {
  constexpr double kWarmUpSeconds = 0.03;
  const int in_a_row = rounds >= 30 ? 10 : 3;
  const auto turns = static_cast<std::size_t>((rounds + in_a_row - 1) / in_a_row);
  std::vector<TimedWork> timed;
  for (const auto& work : works)
    timed.push_back(work ? Timed(work) : TimedWork());
  for (const Stopwatch watch; watch.Seconds() < kWarmUpSeconds;) {
    for (const auto& work : works)
      if (work) work();
  }
  std::vector<double> medians;
  for (const auto& times : TakeTurns(
           timed, [&](std::size_t done) { return done < turns; }, in_a_row))
    medians.push_back(Median(times));
  return medians;
}

/// One line of the result. Figures are in `unit`; in GB/s more is better, in us and x (times as long) less.
struct Row {
  std::string group, direction;
  std::size_t entry_bytes = 0, entries = 1;
  std::string unit = "GB/s";
  double ours = 0, call = 0, loop = 0;  ///< 0: not measured
  double on_ours = 0;                   ///< the driver's call on Sampan's memory, for comparison
  double awaited = 0;                   ///< the driver's call with its end awaited, for comparison
  double bar = 0;                       ///< for the ratio, or with bar_of_figure for ours; 0: none
  bool bar_of_figure = false;

  bool less_is_better() const { return unit == "us" || unit == "x"; }
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
    if (row.on_ours != 0) std::printf("  the call on Sampan's memory %.3f", row.on_ours);
    if (row.awaited != 0) std::printf("  the call awaited %.3f", row.awaited);
    std::printf("\n");
    std::fflush(stdout);
    Keep(std::move(row));
  }
  /// The same without a line of its own.
  void Keep(Row row) {
    rows_.push_back(std::move(row));
    constexpr double kSecondsBetween = 2;
    if (path_.empty() || since_write_->Seconds() < kSecondsBetween) return;
    since_write_.emplace();
    WriteJson();
  }

  /// From now on the rows are written to this file every two seconds. So a run that is cut short leaves what
  /// it has measured. Without a path they are not written.
  void WriteTo(const char* path, const std::string& machine) {
    path_ = path == nullptr ? "" : path;
    machine_ = machine;
  }

  /// Returns false if the file cannot be written. It is whole at any time.
  bool WriteJson() const {
    if (path_.empty()) return true;
    auto rows = nlohmann::ordered_json::array();
    for (const Row& row : rows_) {
      rows.push_back({{"group", row.group},
                      {"direction", row.direction},
                      {"bytes", row.entry_bytes},
                      {"entries", row.entries},
                      {"unit", row.unit},
                      {"sampan", row.ours},
                      {"driver_call", row.call},
                      {"driver_loop", row.loop},
                      {"driver_call_on_sampans_memory", row.on_ours},
                      {"driver_call_awaited", row.awaited},
                      {"ratio", row.ratio()},
                      {"bar", row.bar},
                      {"bar_of", row.bar_of_figure ? "sampan" : "ratio"},
                      {"met", row.met()}});
    }
    const std::string next = path_ + ".new";
    std::ofstream file(next);
    file << nlohmann::ordered_json{{"machine", machine_}, {"rows", rows}}.dump(1) << "\n";
    return file.flush() && std::rename(next.c_str(), path_.c_str()) == 0;
  }

  /// Prints the bars that were missed, and their number last.
  void PrintMissed() const {
    std::size_t missed = 0;
    std::printf("\n");
    for (const Row& row : rows_) {
      if (row.met()) continue;
      ++missed;
      std::printf("missed: %s %s %zu x %zu: ", row.group.c_str(), row.direction.c_str(), row.entry_bytes,
                  row.entries);
      if (row.bar_of_figure) {
        std::printf("%.3f %s, bar %.2f\n", row.ours, row.unit.c_str(), row.bar);
      } else {
        std::printf("%.3f of the driver, bar %.2f\n", row.ratio(), row.bar);
      }
    }
    std::printf("%zu of %zu bars missed\n", missed,
                static_cast<std::size_t>(
                    std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.bar != 0; })));
  }

 private:
  std::vector<Row> rows_;
  std::string path_, machine_;
  std::optional<Stopwatch> since_write_ = Stopwatch();
};

}  // namespace bench
