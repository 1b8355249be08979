// The data of a report as its page reads it (report/data.js).
#include "tools/sampan/report/report_json.h"

#include <algorithm>
#include <functional>
#include <sstream>

#include "summary/activity_words.h"
#include "summary/quantity_text.h"
#include "tools/sampan/shared/output/quantities.h"

namespace sampan::tool {
namespace {

using nlohmann::json;

/// Text of a trace may contain anything. Invalid UTF-8 becomes a question mark.
std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// One number of each item, as an array.
std::string Column(const std::vector<ReportItem>& items,
                   const std::function<std::int64_t(const ReportItem&)>& number) {
  std::string text = "[";
  for (const ReportItem& item : items)
    text += (text.size() > 1 ? "," : "") + std::to_string(number(item));
  return text + "]";
}

std::string ItemsJson(const ReportModel& model) {
  std::int64_t before_ns = model.first_ns;
  const auto distance = [&](const ReportItem& item) {
    const std::int64_t since = item.begin_ns - before_ns;
    before_ns = item.begin_ns;
    return since;
  };
  std::string arguments = "[";
  for (const ReportItem& item : model.items) {
    if (item.arguments.empty()) continue;
    arguments += (arguments.size() > 1 ? "," : "") + item.arguments;
  }
  const auto& items = model.items;
  return "{\"track\":" + Column(items, [](const ReportItem& item) { return item.track; }) +
         ",\"start\":" + Column(items, distance) +
         ",\"duration\":" + Column(items, [](const ReportItem& item) { return item.duration_ns; }) +
         ",\"name\":" + Column(items, [](const ReportItem& item) { return item.name; }) +
         ",\"tint\":" + Column(items, [](const ReportItem& item) { return item.tint; }) +
         ",\"shape\":" + Column(items, [](const ReportItem& item) { return item.shape; }) +
         ",\"copy\":" + Column(items, [](const ReportItem& item) { return item.bytes.has_value(); }) +
         ",\"arguments\":" + arguments + "]}";
}

/// `other_names` is the number of the text for names that are not listed.
json GroupsJson(const ReportModel& model, std::size_t other_names) {
  json groups = json::array();
  for (std::size_t item = 0; item < model.items.size(); ++item) {
    if (!model.items[item].group) continue;
    const SliceGroup& group = *model.items[item].group;
    json names = json::array();
    for (const auto& [name, count] : group.names) {
      names.push_back(name);
      names.push_back(count);
    }
    if (group.other_names > 0) {
      names.push_back(other_names);
      names.push_back(group.other_names);
    }
    groups.push_back({{"item", item},
                      {"count", group.slices},
                      {"copies", group.copies},
                      {"busy", group.busy_ns},
                      {"bytes", group.bytes},
                      {"min", group.min_bytes},
                      {"max", group.max_bytes},
                      {"failed", group.failed},
                      {"tints", group.tints},
                      {"stream", model.items[item].stream},
                      {"names", names}});
  }
  return groups;
}

json TracksJson(const ReportModel& model) {
  json tracks = json::array();
  for (const ReportTrack& track : model.tracks) {
    tracks.push_back(
        {{"area", track.area}, {"name", track.name}, {"slices", track.slices}, {"device", track.has_tasks}});
  }
  return tracks;
}

json CountersJson(const ReportModel& model) {
  json counters = json::array();
  for (const ReportModel::Counter& counter : model.counters) {
    json time = json::array();
    json low = json::array();
    json high = json::array();
    for (const CounterPoint& point : counter.points) {
      time.push_back(point.at_ns - model.first_ns);
      low.push_back(point.low);
      high.push_back(point.high);
    }
    counters.push_back({{"group", counter.group},
                        {"name", counter.name},
                        {"unit", counter.unit},
                        {"time", time},
                        {"low", low},
                        {"high", high}});
  }
  return counters;
}

json RatesJson(const ReportModel& model) {
  json rates = json::array();
  for (const ReportModel::Dot& dot : model.dots) {
    rates.push_back({{"kind", dot.kind},
                     {"tint", kTintNames[static_cast<std::size_t>(dot.tint)]},
                     {"count", dot.copies.copies},
                     {"bytes", dot.copies.bytes},
                     {"ns", dot.copies.ns},
                     {"min", dot.copies.min_bytes},
                     {"max", dot.copies.max_bytes},
                     {"item", dot.slowest ? json(*dot.slowest) : json(nullptr)}});
  }
  return rates;
}

/// The sentences of the summary: its text without table and advice.
json Sentences(const summary::Report& summary) {
  json sentences = json::array();
  std::istringstream text(summary::TerminalText(summary));
  const std::size_t table_end = summary.rows.empty() ? 1 : 2 + summary.rows.size();
  std::size_t number = 0;
  for (std::string line; std::getline(text, line); ++number) {
    std::string sentence = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (constexpr std::string_view kTitle = "Sampan summary: "; sentence.starts_with(kTitle))
      sentence.erase(0, kTitle.size());
    if ((number == 0 || number >= table_end) && !sentence.starts_with("advice: "))
      sentences.push_back(sentence);
  }
  return sentences;
}

json SummaryJson(const summary::Report& summary) {
  json rows = json::array();
  for (const summary::Row& row : summary.rows) {
    rows.push_back({{"tint", kTintNames[static_cast<std::size_t>(TintOf(row.operation))]},
                    {"cells",
                     {summary::WordOf(row.operation), summary::WordOf(row.path), std::to_string(row.calls),
                      summary::BytesText(static_cast<double>(row.bytes)),
                      row.timed ? summary::TimeText(row.time_ns) : "-",
                      row.timed ? summary::RateText(row.bytes, row.time_ns) : "-"}}});
  }
  const auto column = [](const char* name, bool is_text) { return json{{"name", name}, {"text", is_text}}; };
  return {{"columns",
           {column("operation", true), column("path", true), column("copies", false), column("bytes", false),
            column("time", false), column("bandwidth", false)}},
          {"rows", rows},
          {"lines", Sentences(summary)}};
}

/// The figures at the top of the page.
json FactsJson(const ReportModel& model) {
  std::uint64_t copies = 0;
  std::uint64_t bytes = 0;
  for (const summary::Row& row : model.summary.rows) {
    if (row.operation == summary::Operation::kFill) continue;
    copies += row.calls;
    bytes += row.bytes;
  }
  const auto seconds = [](std::int64_t ns) { return ShowSeconds(static_cast<double>(ns) / 1e9); };
  json facts = json::array();
  facts.push_back({"Program", std::filesystem::path(model.facts.program).filename().string()});
  facts.push_back({"Backend", model.facts.backend});
  facts.push_back({"Time", seconds(model.last_ns - model.first_ns)});
  facts.push_back({"Copies", copies});
  facts.push_back({"Moved", ShowBytes(bytes)});
  if (model.summary.failed.tasks != 0) facts.push_back({"Failed", model.summary.failed.tasks});
  if (model.summary.dropped.tasks != 0) facts.push_back({"Dropped", model.summary.dropped.tasks});
  if (model.summary.unfinished_count != 0) facts.push_back({"Unfinished", model.summary.unfinished_count});
  facts.push_back({"Deepest queue", model.summary.deepest_queue});
  facts.push_back({"Host waited", seconds(model.summary.host_wait_ns)});
  return facts;
}

json NotesJson(const ReportModel& model) {
  json notes = model.facts.notes;
  if (model.resolution_ns > 0) {
    notes.push_back("The trace has " + std::to_string(model.slices) + " slices. Those shorter than " +
                    ShowSeconds(static_cast<double>(model.resolution_ns) / 1e9) +
                    " are shown in groups where they lie close together; all figures count every one.");
  }
  return notes;
}

}  // namespace

std::string ReportJson(const ReportModel& model, const std::string& file, const std::string& command) {
  json flows = json::array();
  for (const auto& [call, task] : model.flows) {
    flows.push_back(call);
    flows.push_back(task);
  }
  json strings = model.strings;
  strings.push_back("other names");
  json rest = {{"file", file},
               {"facts", FactsJson(model)},
               {"notes", NotesJson(model)},
               {"span", model.last_ns - model.first_ns},
               {"origin", model.origin_ns},
               {"command", command},
               {"strings", strings},
               {"shapes", model.shapes},
               {"tints", kTintNames},
               {"tracks", TracksJson(model)},
               {"groups", GroupsJson(model, model.strings.size())},
               {"flows", flows},
               {"counters", CountersJson(model)},
               {"rates", RatesJson(model)},
               {"summary", SummaryJson(model.summary)},
               {"advice", model.summary.advice}};
  // The items are the largest part, and inserted as text.
  std::string text = Dump(rest);
  text.pop_back();
  return text + ",\"items\":" + ItemsJson(model) + "}";
}

}  // namespace sampan::tool
