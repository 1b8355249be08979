// Builds the data of a report from the events of traces.
#include "tools/sampan/report/report_model.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <tuple>

#include "summary/activity_words.h"
#include "tools/sampan/shared/output/quantities.h"
#include "tools/sampan/shared/process/interrupt.h"
#include "tools/sampan/shared/trace/trace_summary.h"

namespace sampan::tool {
namespace {

/// Transfers look like the copies that they belong to.
Tint TransferTint(summary::TransferKind kind) {
  switch (kind) {
    case summary::TransferKind::kWrite:
      return Tint::kHostToDevice;
    case summary::TransferKind::kRead:
      return Tint::kDeviceToHost;
    case summary::TransferKind::kFill:
      return Tint::kFill;
    case summary::TransferKind::kSignal:
      return Tint::kOther;
  }
  return Tint::kOther;
}

/// A page with this many items is still fast.
constexpr std::size_t kMaxItems = 160'000;
constexpr std::size_t kMaxTracks = 4'000;
constexpr std::size_t kMaxTextBytes = 300;

/// Numbers texts in the order of their first use.
class TextTable {
 public:
  std::uint32_t NumberOf(std::string_view text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    texts_.emplace_back(text);
    return numbers_.emplace(text, static_cast<std::uint32_t>(texts_.size() - 1)).first->second;
  }
  std::vector<std::string>& texts() { return texts_; }

 private:
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::vector<std::string> texts_;
};

/// An argument in one line; what consists of parts is joined.
TraceJson ShownArgument(const TraceJson& value) {
  if (!value.is_structured()) return value;
  std::string text;
  if (value.is_object()) {
    for (const auto& [key, part] : value.items())
      text +=
          (text.empty() ? "" : ", ") + key + " " + (part.is_string() ? part.get<std::string>() : part.dump());
  } else {
    text = value.dump();
  }
  if (text.size() > kMaxTextBytes) text = text.substr(0, kMaxTextBytes) + "...";
  return text;
}

class Gatherer {
 public:
  Gatherer() : items_(kMaxItems) { shape_numbers_[{}] = 0; }

  /// The following events belong to another file with its own areas and connections. Empty: the only file.
  void BeginFile(const std::string& name);
  void Add(const TraceEvent& event);
  ReportModel Take(TraceFacts facts);

 private:
  struct Area {
    std::string name;
    std::string label;
    std::int64_t sort_index = 0;
  };
  struct Track {
    std::int64_t process = 0;
    std::int64_t thread = 0;
    std::string name;
    std::int64_t sort_index = 0;
    std::size_t slices = 0;
    bool has_tasks = false;
  };
  /// Where the engines' shares find the task that they belong to.
  using TaskPlace = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // area, stream, task

  std::uint32_t TrackOf(const TraceEvent& event);
  std::uint32_t OtherTrack();
  /// Connections are numbered by each program; 0 stays none.
  std::int64_t OwnConnection(std::int64_t connection) const {
    constexpr std::int64_t kMaxConnection = std::int64_t{1} << 48;
    return connection == 0
               ? 0
               : connection % kMaxConnection + kMaxConnection * static_cast<std::int64_t>(files_.size() - 1);
  }
  void AddName(const TraceEvent& event);
  void AddSlice(const TraceEvent& event);
  void AddRate(const TraceEvent& event, summary::Operation operation, std::uint64_t bytes);
  void TakeArguments(const TraceEvent& event, ReportItem& item);
  std::string AreaName(std::int64_t process) const;
  void TakeTracks(ReportModel& model);
  void TakeCounters(ReportModel& model);
  void TakeFlows(ReportModel& model);
  void TakeDots(ReportModel& model);

  std::map<std::int64_t, Area> areas_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> track_numbers_;
  std::vector<Track> tracks_;
  std::optional<std::uint32_t> other_track_;
  std::vector<std::uint32_t> places_;  ///< of the tracks, from top to bottom
  TextTable strings_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> shape_numbers_;
  ReportItems items_;
  std::map<std::pair<std::int64_t, std::string>, ReportCounter> counters_;
  ReportRates rates_;
  TextTable rate_kinds_;
  std::vector<Tint> rate_tints_;
  struct File {
    std::string name;
    summary::Summary summary;  ///< for advice: streams of two programs may have the same number
  };
  std::vector<File> files_;
  summary::Summary summary_;
  std::size_t slices_ = 0;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

void Gatherer::BeginFile(const std::string& name) {
  files_.push_back({.name = name});
}

void Gatherer::Add(const TraceEvent& told) {
  AddTo(summary_, told);
  if (files_.size() > 1 || !files_.back().name.empty()) AddTo(files_.back().summary, told);
  TraceEvent event = told;
  event.process += kMaxProcess * static_cast<std::int64_t>(files_.size() - 1);
  if (event.phase == 'M') {
    AddName(event);
    return;
  }
  first_ns_ = std::min(first_ns_, event.begin_ns);
  last_ns_ = std::max(last_ns_, event.begin_ns + event.duration_ns);
  if (event.phase == 'X' || event.phase == 'i') {
    AddSlice(event);
  } else if (event.phase == 's') {
    std::int64_t connection = 0;
    std::from_chars(event.id.data(), event.id.data() + event.id.size(), connection);
    items_.AddSubmission({OwnConnection(connection), TrackOf(event), event.begin_ns});
  } else if (event.phase == 'C') {
    for (const auto& [unit, value] : event.arguments->items()) {
      if (value.is_number_integer())
        counters_[{event.process, std::string(event.name)}].Add(event.begin_ns, value.get<std::int64_t>());
    }
  }
}

/// Further rows of an area share one, so that a page stays quick and its items can be grouped.
std::uint32_t Gatherer::TrackOf(const TraceEvent& event) {
  if (tracks_.size() >= kMaxTracks && !track_numbers_.contains({event.process, event.thread}))
    return OtherTrack();
  const auto [found, is_new] =
      track_numbers_.try_emplace({event.process, event.thread}, static_cast<std::uint32_t>(tracks_.size()));
  if (is_new) {
    tracks_.push_back({.process = event.process,
                       .thread = event.thread,
                       .name = "Row " + std::to_string(event.thread),
                       .sort_index = event.thread});
  }
  return found->second;
}

std::uint32_t Gatherer::OtherTrack() {
  if (!other_track_) {
    other_track_ = static_cast<std::uint32_t>(tracks_.size());
    tracks_.push_back({.process = std::numeric_limits<std::int64_t>::max(),
                       .name = "further rows",
                       .sort_index = std::numeric_limits<std::int64_t>::max()});
  }
  return *other_track_;
}

void Gatherer::AddName(const TraceEvent& event) {
  if (event.name == "process_name")
    areas_[event.process].name = event.Text("name");
  else if (event.name == "process_labels")
    areas_[event.process].label = event.Text("labels");
  else if (event.name == "process_sort_index")
    areas_[event.process].sort_index = event.Number("sort_index");
  else if (event.name == "thread_name" && TrackOf(event) != other_track_)
    tracks_[TrackOf(event)].name = event.Text("name");
  else if (event.name == "thread_sort_index" && TrackOf(event) != other_track_)
    tracks_[TrackOf(event)].sort_index = event.Number("sort_index");
}

void Gatherer::TakeArguments(const TraceEvent& event, ReportItem& item) {
  std::vector<std::uint32_t> shape;
  const auto add = [&](std::string_view name, const TraceJson& value) {
    shape.push_back(strings_.NumberOf(name));
    item.arguments +=
        (item.arguments.empty() ? "" : ",") + value.dump(-1, ' ', false, TraceJson::error_handler_t::replace);
  };
  for (const auto& [name, value] : event.arguments->items()) {
    if (name == "submitted") {
      const std::int64_t waited_ns = event.begin_ns - event.Time("submitted", event.begin_ns);
      add("waited in the queue",
          ShowSeconds(static_cast<double>(std::max<std::int64_t>(waited_ns, 0)) / 1e9));
    } else if (name != "Task Type") {  // it is the slice's name
      add(name, ShownArgument(value));
    }
  }
  item.shape = shape_numbers_.try_emplace(std::move(shape), static_cast<std::uint32_t>(shape_numbers_.size()))
                   .first->second;
}

void Gatherer::AddSlice(const TraceEvent& event) {
  ReportItem item{.track = TrackOf(event), .name = strings_.NumberOf(event.name)};
  item.begin_ns = event.begin_ns;
  item.duration_ns = event.duration_ns;
  item.is_task = IsTask(event);
  item.stream = event.Count("Stream Id", -1);
  item.task = event.Count("Task Id", -1);
  if (item.is_task || event.Find("part") != nullptr)
    item.connection = OwnConnection(event.Count("connection_id"));
  const bool is_wait =
      event.name.ends_with("_WAIT") || event.name.starts_with("Wait@") || event.Find("waits") != nullptr;
  Tint tint = is_wait                                          ? Tint::kWait
              : event.name.find('@') != std::string_view::npos ? Tint::kCall
                                                               : Tint::kOther;
  if (event.phase == 'i') tint = Tint::kOther;
  const auto operation = summary::Parse<summary::Operation>(event.Text("operation"));
  const bool failed = event.Number(item.is_task ? "status" : "code") != 0;
  const bool dropped = event.Find("discarded") != nullptr;
  if (operation && item.is_task) {
    tint = TintOf(*operation);
    if (*operation != summary::Operation::kFill && !failed && !dropped && !IsUnfinished(event)) {
      item.bytes = static_cast<std::uint64_t>(event.Count("size(B)"));
      AddRate(event, *operation, *item.bytes);
    }
  }
  if (const auto kind = summary::Parse<summary::TransferKind>(event.name)) tint = TransferTint(*kind);
  if (dropped) tint = Tint::kDropped;
  if (failed) tint = Tint::kFailed;
  if (IsUnfinished(event)) tint = Tint::kUnfinished;
  item.failed = failed;
  item.tint = static_cast<std::uint32_t>(tint);
  TakeArguments(event, item);
  ++slices_;
  Track& track = tracks_[item.track];
  ++track.slices;
  track.has_tasks = track.has_tasks || item.is_task;
  items_.Add(std::move(item));
}

/// Only copies whose own time is known have a rate.
void Gatherer::AddRate(const TraceEvent& event, summary::Operation operation, std::uint64_t bytes) {
  if (event.Find("bandwidth(GB/s)") == nullptr || bytes == 0 || event.duration_ns == 0) return;
  std::string kind(summary::WordOf(operation));
  for (const char* end : {"dst", "src"}) {
    const TraceJson* const place = event.Find(end);
    if (place != nullptr && place->is_object() && place->value("place", "") == "pageable") {
      kind += ", pageable";
      break;
    }
  }
  const std::uint32_t number = rate_kinds_.NumberOf(kind);
  if (number == rate_tints_.size()) rate_tints_.push_back(TintOf(operation));
  rates_.Add(number, bytes, event.duration_ns, OwnConnection(event.Count("connection_id")));
}

std::string Gatherer::AreaName(std::int64_t process) const {
  const auto found = areas_.find(process);
  const std::string& file = files_[static_cast<std::size_t>(process / kMaxProcess) % files_.size()].name;
  if (process == std::numeric_limits<std::int64_t>::max()) return "Others";
  if (found == areas_.end() || found->second.name.empty())
    return (file.empty() ? "" : file + ": ") + "Area " + std::to_string(process % kMaxProcess);
  const Area& area = found->second;
  return (file.empty() ? "" : file + ": ") + area.name + (area.label.empty() ? "" : " (" + area.label + ")");
}

void Gatherer::TakeTracks(ReportModel& model) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    if (tracks_[track].slices > 0) order.push_back(track);
  }
  const auto key = [&](std::uint32_t number) {
    const Track& track = tracks_[number];
    const bool is_other = number == other_track_;
    return std::tuple(is_other, areas_[track.process].sort_index, track.process, track.sort_index,
                      track.thread);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t one, std::uint32_t other) { return key(one) < key(other); });
  places_.resize(tracks_.size());
  for (const std::uint32_t number : order) {
    const Track& track = tracks_[number];
    places_[number] = static_cast<std::uint32_t>(model.tracks.size());
    model.tracks.push_back({AreaName(track.process), track.name, track.slices, track.has_tasks});
  }
  // The names that a trace has for rows and the order in which it shows them are known only now.
  std::map<TaskPlace, std::uint32_t> tints;
  model.items = items_.Take();
  const auto place = [&](const ReportItem& item) {
    // Tasks of streams are told by their number there, blocking copies by their connection.
    return TaskPlace(tracks_[item.track].process, item.task >= 0 ? item.stream : -1,
                     item.task >= 0 ? item.task : item.connection);
  };
  for (const ReportItem& item : model.items) {
    if (item.is_task) tints[place(item)] = item.tint;
  }
  for (ReportItem& item : model.items) {
    const auto task = tints.find(place(item));
    if (!item.is_task && !item.group && task != tints.end()) item.tint = task->second;
    item.track = places_[item.track];
  }
  std::stable_sort(model.items.begin(), model.items.end(),
                   [](const ReportItem& one, const ReportItem& other) { return one.track < other.track; });
}

void Gatherer::TakeCounters(ReportModel& model) {
  std::vector<std::pair<std::int64_t, ReportModel::Counter>> counters;
  for (auto& [key, counter] : counters_) {
    constexpr std::string_view kDepth = " queue depth";
    const std::int64_t highest = counter.highest();
    const bool is_depth = key.second.ends_with(kDepth);
    const std::string label = areas_[key.first].label;
    ReportModel::Counter shown{.group = is_depth ? "Queue depth" : key.second, .name = label};
    if (is_depth) shown.name = key.second.substr(0, key.second.size() - kDepth.size()) + ", " + label;
    shown.unit = is_depth ? "tasks" : "bytes";
    shown.points = counter.Take();
    // Queues first, the deepest in front.
    counters.emplace_back(is_depth ? highest : -1, std::move(shown));
  }
  std::stable_sort(counters.begin(), counters.end(),
                   [](const auto& one, const auto& other) { return one.first > other.first; });
  for (auto& [highest, counter] : counters)
    model.counters.push_back(std::move(counter));
}

/// From the call to what it submitted.
void Gatherer::TakeFlows(ReportModel& model) {
  const auto begins_later = [](std::pair<std::uint32_t, std::int64_t> at, const ReportItem& item) {
    return at < std::pair(item.track, item.begin_ns);
  };
  constexpr int kMaxNested = 64;
  for (std::size_t task = 0; task < model.items.size(); ++task) {
    if (!model.items[task].is_task) continue;
    const auto found = items_.submissions().find(model.items[task].connection);
    if (found == items_.submissions().end()) continue;
    const std::pair at(places_[found->second.track], found->second.at_ns);
    auto call = std::upper_bound(model.items.begin(), model.items.end(), at, begins_later);
    for (int step = 0; step < kMaxNested && call != model.items.begin(); ++step) {
      --call;
      if (call->track != at.first) break;
      if (call->group || call->duration_ns == 0 || call->end_ns() < at.second) continue;
      model.flows.emplace_back(call - model.items.begin(), task);
      break;
    }
  }
}

void Gatherer::TakeDots(ReportModel& model) {
  std::map<std::int64_t, std::size_t> items;
  for (std::size_t item = 0; item < model.items.size(); ++item) {
    if (model.items[item].is_task) items[model.items[item].connection] = item;
  }
  for (const auto& [key, dot] : rates_.dots()) {
    const std::uint32_t kind = std::get<0>(key);
    const auto slowest = items.find(dot.connection);
    model.dots.push_back({.kind = rate_kinds_.texts()[kind], .tint = rate_tints_[kind], .copies = dot});
    if (slowest != items.end()) model.dots.back().slowest = slowest->second;
  }
}

ReportModel Gatherer::Take(TraceFacts facts) {
  ReportModel model{.facts = std::move(facts)};
  model.first_ns = std::min(first_ns_, last_ns_);
  model.last_ns = std::max(first_ns_, last_ns_);
  if (slices_ == 0 && counters_.empty()) model.first_ns = model.last_ns = 0;
  model.slices = slices_;
  TakeTracks(model);
  TakeCounters(model);
  TakeFlows(model);
  TakeDots(model);
  model.resolution_ns = items_.resolution_ns();
  model.shapes.resize(shape_numbers_.size());
  for (const auto& [shape, number] : shape_numbers_)
    model.shapes[number] = shape;
  model.strings = std::move(strings_.texts());
  model.summary = summary_.MakeReport();
  if (files_.size() > 1) {
    model.summary.advice.clear();
    for (const File& file : files_) {
      for (const std::string& advice : file.summary.MakeReport().advice)
        model.summary.advice.push_back(file.name + ": " + advice);
    }
  }
  return model;
}

}  // namespace

Tint TintOf(summary::Operation operation) {
  switch (operation) {
    case summary::Operation::kHostToDevice:
      return Tint::kHostToDevice;
    case summary::Operation::kDeviceToHost:
      return Tint::kDeviceToHost;
    case summary::Operation::kDeviceToDevice:
      return Tint::kDeviceToDevice;
    case summary::Operation::kHostToHost:
      return Tint::kHostToHost;
    case summary::Operation::kFill:
      return Tint::kFill;
    case summary::Operation::kNone:
      return Tint::kOther;
  }
  return Tint::kOther;
}

namespace {

/// When the first of all events begins.
std::int64_t FindFirst(const ReportRequest& request, const ReportProgress& progress) {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  for (const std::filesystem::path& trace : request.traces) {
    ReadTrace(
        trace,
        [&](const TraceEvent& event) {
          StopIfInterrupted();
          if (event.phase != 'M') first_ns = std::min(first_ns, event.begin_ns);
        },
        [&](double share) { progress("finding the range in " + trace.filename().string(), share); });
  }
  return first_ns;
}

}  // namespace

ReportModel GatherReport(const ReportRequest& request, const ReportProgress& progress) {
  Gatherer gatherer;
  TraceFacts all;
  const std::int64_t origin_ns = request.is_whole() ? 0 : FindFirst(request, progress);
  const bool several = request.traces.size() > 1;
  for (const std::filesystem::path& trace : request.traces) {
    const std::string name = trace.filename().string();
    gatherer.BeginFile(several ? name : "");
    TraceFacts facts = ReadTrace(
        trace,
        [&](const TraceEvent& event) {
          StopIfInterrupted();
          const bool is_in_range = event.phase == 'M' || request.is_whole() ||
                                   (event.begin_ns - origin_ns <= request.to_ns &&
                                    event.begin_ns + event.duration_ns - origin_ns >= request.from_ns);
          if (is_in_range) gatherer.Add(event);
        },
        [&](double share) { progress("reading " + name, share); });
    for (std::string& note : facts.notes)
      all.notes.push_back(several ? name + ": " + note : note);
    facts.notes = std::move(all.notes);
    if (!all.program.empty())
      facts.program = all.program + ", " + std::filesystem::path(facts.program).filename().string();
    all = std::move(facts);
  }
  progress("writing the page", 1);
  ReportModel model = gatherer.Take(std::move(all));
  if (!request.is_whole()) {
    model.origin_ns = model.first_ns - origin_ns;
    const auto shown = [](std::int64_t ns) { return ShowSeconds(static_cast<double>(ns) / 1e9); };
    model.facts.notes.push_back(
        "Only what lies between " + shown(request.from_ns) + " and " +
        (request.to_ns == std::numeric_limits<std::int64_t>::max() ? "the end" : shown(request.to_ns)) +
        " of the trace is shown and counted.");
  }
  return model;
}

}  // namespace sampan::tool
