// What a report shows, as plain data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "summary/summary.h"
#include "tools/sampan/report/report_counters.h"
#include "tools/sampan/report/report_items.h"
#include "tools/sampan/report/report_rates.h"
#include "tools/sampan/shared/trace/trace_reader.h"

namespace sampan::tool {

/// Colours of slices, by the names that the page has for them.
enum class Tint : std::uint32_t {
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kHostToHost,
  kFill,
  kCall,
  kWait,
  kOther,
  kFailed,
  kDropped,
  kUnfinished,
};
inline constexpr std::string_view kTintNames[] = {"h2d",  "d2h",   "d2d",    "h2h",     "fill",      "call",
                                                  "wait", "other", "failed", "dropped", "unfinished"};

Tint TintOf(summary::Operation operation);

/// A row of the timeline.
struct ReportTrack {
  std::string area;
  std::string name;
  std::size_t slices = 0;
  bool has_tasks = false;  ///< of streams and blocking copies
};

struct ReportModel {
  TraceFacts facts;
  std::int64_t first_ns = 0;  ///< the beginning of everything
  std::int64_t last_ns = 0;
  std::int64_t origin_ns = 0;  ///< from the beginning of the trace to what is shown
  std::size_t slices = 0;
  std::int64_t resolution_ns = 0;  ///< what is shorter may be shown in groups; 0 when all slices are shown
  std::vector<std::string> strings;
  std::vector<std::vector<std::uint32_t>> shapes;          ///< names of arguments
  std::vector<ReportTrack> tracks;                         ///< from top to bottom
  std::vector<ReportItem> items;                           ///< by track, then by beginning
  std::vector<std::pair<std::size_t, std::size_t>> flows;  ///< items of calls and of their tasks

  struct Counter {
    std::string group;  ///< what is counted
    std::string name;   ///< of what
    std::string unit;
    std::vector<CounterPoint> points;
  };
  std::vector<Counter> counters;  ///< the highest first

  struct Dot {
    std::string kind;
    Tint tint = Tint::kOther;
    RateDot copies;
    std::optional<std::size_t> slowest;  ///< its item, where it is shown by itself
  };
  std::vector<Dot> dots;
  summary::Report summary;
};

/// What a report is made of. Times count from the first event of all traces.
struct ReportRequest {
  std::vector<std::filesystem::path> traces;  ///< at least one; of several, with the clock of one machine
  std::int64_t from_ns = 0;
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();

  bool is_whole() const { return from_ns == 0 && to_ns == std::numeric_limits<std::int64_t>::max(); }
};

/// Called repeatedly with the current step and its progress, from 0 to 1.
using ReportProgress = std::function<void(const std::string& doing, double share)>;

/// Reads the traces in one pass, or in two for a range. Memory does not grow with the length of the traces.
ReportModel GatherReport(const ReportRequest& request, const ReportProgress& progress);

}  // namespace sampan::tool
