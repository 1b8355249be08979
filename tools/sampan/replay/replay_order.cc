// The order of a replay's steps, and the ranges of memory that they need.
#include "tools/sampan/replay/replay_order.h"

#include <algorithm>
#include <map>

namespace sampan::tool {

void KeepOrderOfStreams(std::vector<ReplayStep>& steps) {
  std::map<std::pair<std::int32_t, std::int64_t>, std::vector<std::size_t>> streams;
  const auto in_order = [&](std::size_t one, std::size_t other) {
    return steps[one].task < steps[other].task;
  };
  const auto settle = [&](std::vector<std::size_t>& places) {
    if (std::is_sorted(places.begin(), places.end(), in_order)) return places.clear();
    std::vector<ReplayStep> tasks;
    for (const std::size_t place : places)
      tasks.push_back(steps[place]);
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const ReplayStep& one, const ReplayStep& other) { return one.task < other.task; });
    for (std::size_t i = 0; i < places.size(); ++i) {
      tasks[i].at_ns = steps[places[i]].at_ns;
      steps[places[i]] = tasks[i];
    }
    places.clear();
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ReplayStep& step = steps[i];
    std::vector<std::size_t>& places = streams[{step.device, step.stream}];
    if (step.kind == ReplayStep::Kind::kCreateStream)
      settle(places);  // from here on, the number names another stream
    else if (step.task >= 0)
      places.push_back(i);
  }
  for (auto& [stream, places] : streams)
    settle(places);
}

void JoinRanges(std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> joined;
  for (const auto& [begin, end] : ranges) {
    if (!joined.empty() && begin <= joined.back().second)
      joined.back().second = std::max(joined.back().second, end);
    else
      joined.emplace_back(begin, end);
  }
  ranges = std::move(joined);
}

}  // namespace sampan::tool
