// Reads traces in the format of docs/TRACE.md.
#include "tools/sampan/shared/trace/trace_reader.h"

#include <charconv>
#include <cmath>

#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/trace/trace_lines.h"

namespace sampan::tool {
namespace {

/// Why a line is refused. The reader adds file and line.
struct Refusal {
  std::string reason;
};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

const TraceJson& Field(const TraceJson& event, const char* name) {
  const auto found = event.find(name);
  if (found == event.end()) throw Refusal{std::string("the event has no \"") + name + "\""};
  return *found;
}

std::string_view TextField(const TraceJson& event, const char* name) {
  const TraceJson& field = Field(event, name);
  if (!field.is_string()) throw Refusal{std::string("\"") + name + "\" is not a text"};
  return field.get_ref<const std::string&>();
}

std::int64_t NumberField(const TraceJson& event, const char* name) {
  const TraceJson& field = Field(event, name);
  if (!field.is_number_integer()) throw Refusal{std::string("\"") + name + "\" is not a whole number"};
  return field.get<std::int64_t>();
}

/// The maximum of a time, in microseconds: 126 years. The sum of two is still a number of nanoseconds.
constexpr double kMaxMicroseconds = 4e15;
/// The maximum of all durations and of all bytes of a trace, so that no sum of them overflows.
constexpr std::int64_t kMaxTotalNs = 4'000'000'000'000'000'000;
constexpr std::uint64_t kMaxTotalBytes = std::uint64_t{1} << 62;

std::int64_t Nanoseconds(const TraceJson& value, const char* name) {
  const double microseconds = value.is_number() ? value.get<double>() : -1;
  if (!(microseconds >= 0 && microseconds <= kMaxMicroseconds))
    throw Refusal{std::string("\"") + name + "\" is not a number of microseconds from 0 to 4e15"};
  return std::llround(microseconds * 1000);
}

/// Microseconds with decimals.
std::int64_t TimeField(const TraceJson& event, const char* name) {
  return Nanoseconds(Field(event, name), name);
}

/// Values of a trace nest three levels deep. Deeper ones could exhaust the stack when they are written.
void RefuseDeepNesting(std::string_view text) {
  constexpr int kMaxDepth = 32;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text) {
      if (text[i] == '\\')
        ++i;  // the escaped character ends no text
      else if (text[i] == '"')
        in_text = false;
    } else if (text[i] == '"') {
      in_text = true;
    } else if (text[i] == '[' || text[i] == '{') {
      if (++depth > kMaxDepth) throw Refusal{"the event is nested deeper than 32 levels"};
    } else if (text[i] == ']' || text[i] == '}') {
      --depth;
    }
  }
}

/// Sums over all events.
struct Totals {
  std::int64_t duration_ns = 0;
  std::uint64_t bytes = 0;

  void Add(const TraceEvent& event) {
    if (event.duration_ns > kMaxTotalNs - duration_ns)
      throw Refusal{"the durations so far are more than 126 years"};
    duration_ns += event.duration_ns;
    const auto more = static_cast<std::uint64_t>(event.Count("size(B)"));
    if (more > kMaxTotalBytes - bytes) throw Refusal{"the copies so far have more bytes than 2^62"};
    bytes += more;
  }
};

TraceEvent EventOf(const TraceJson& event, std::size_t line) {
  static const TraceJson kNoArguments = TraceJson::object();
  if (!event.is_object()) throw Refusal{"this is not an event"};
  TraceEvent told{.line = line, .name = TextField(event, "name")};
  const std::string_view phase = TextField(event, "ph");
  constexpr std::string_view kPhases = "MXisfC";
  if (phase.size() != 1 || kPhases.find(phase.front()) == std::string_view::npos)
    throw Refusal{"\"ph\" is '" + std::string(phase) + "', which traces of Sampan do not have"};
  told.phase = phase.front();
  told.process = NumberField(event, "pid");
  if (told.process < 0 || told.process >= kMaxProcess)
    throw Refusal{"\"pid\" is " + std::to_string(told.process) + ", not a number from 0 to 2^44 - 1"};
  told.thread = NumberField(event, "tid");
  if (told.phase != 'M') told.begin_ns = TimeField(event, "ts");
  if (told.phase == 'X') told.duration_ns = TimeField(event, "dur");
  if (told.phase == 's' || told.phase == 'f') told.id = TextField(event, "id");
  const auto arguments = event.find("args");
  told.arguments = arguments == event.end() ? &kNoArguments : &*arguments;
  if (!told.arguments->is_object()) throw Refusal{"\"args\" is not an object"};
  return told;
}

/// The first event says what the file is.
void TakeHead(const TraceEvent& head, TraceFacts& facts) {
  if (head.name != "sampan_trace")
    throw Refusal{"the first event is not \"sampan_trace\"; is it a file of 'sampan run --trace'?"};
  if (const std::int64_t format = head.Number("format"); format != 1) {
    throw Refusal{"the trace has format " + std::to_string(format) +
                  " and this version of sampan reads format 1"};
  }
  facts.program = head.Text("program");
  facts.version = head.Text("version");
  facts.backend = head.Text("backend");
  facts.profile = head.Text("profile");
  facts.started = head.Text("started");
  if (const std::string_view state = head.Text("state"); state == "running") {
    facts.notes.emplace_back(
        "The program did not end regularly, or is still running: the last moments may be missing.");
  } else if (state == "stopped") {
    facts.notes.emplace_back(
        "A signal ended the program: what had not ended by then is shown as unfinished.");
  } else if (state == "cut") {
    facts.notes.emplace_back(
        "The trace could not be written to its end, for example because the disk was full: the rest is "
        "missing.");
  }
}

}  // namespace

const TraceJson* TraceEvent::Find(const char* argument) const {
  const auto found = arguments->find(argument);
  return found == arguments->end() ? nullptr : &*found;
}

std::int64_t TraceEvent::Number(const char* argument, std::int64_t otherwise) const {
  const TraceJson* const found = Find(argument);
  if (found == nullptr) return otherwise;
  if (!found->is_number_integer())
    throw Refusal{std::string("the argument \"") + argument + "\" is not a whole number"};
  return found->get<std::int64_t>();
}

std::int64_t TraceEvent::Count(const char* argument, std::int64_t otherwise) const {
  const TraceJson* const found = Find(argument);
  if (found == nullptr) return otherwise;
  const bool is_negative = found->is_number_integer() && !found->is_number_unsigned() && *found < 0;
  if (is_negative || (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX))
    throw Refusal{std::string("the argument \"") + argument + "\" is " + found->dump() +
                  ", not a number from 0 to 2^63 - 1"};
  return Number(argument);
}

std::int32_t TraceEvent::Device(const char* argument) const {
  const std::int64_t device = Number(argument, -1);
  if (device < -1 || device >= kMaxDevices)
    throw Refusal{std::string("the argument \"") + argument + "\" is " + std::to_string(device) +
                  ", not the number of a device"};
  return static_cast<std::int32_t>(device);
}

std::int64_t TraceEvent::Time(const char* argument, std::int64_t otherwise_ns) const {
  const TraceJson* const found = Find(argument);
  return found == nullptr ? otherwise_ns : Nanoseconds(*found, argument);
}

std::string_view TraceEvent::Text(const char* argument) const {
  const TraceJson* const found = Find(argument);
  if (found == nullptr) return {};
  if (!found->is_string()) throw Refusal{std::string("the argument \"") + argument + "\" is not a text"};
  return found->get_ref<const std::string&>();
}

TraceFacts ReadTrace(const std::filesystem::path& path, const std::function<void(const TraceEvent&)>& tell,
                     const std::function<void(double)>& progress) {
  TraceLines lines(path);
  TraceFacts facts;
  enum { kBeforeBracket, kBeforeHead, kInside, kBehind } state = kBeforeBracket;
  std::string_view line;
  Totals totals;
  try {
    while (lines.Next(line)) {
      std::string_view text = Trimmed(line);
      if (text.empty()) continue;
      if (state == kBehind) throw Refusal{"there is something behind the closing bracket"};
      if (state == kBeforeBracket) {
        if (text != "[") throw Refusal{"a trace begins with '['; is it a file of 'sampan run --trace'?"};
        state = kBeforeHead;
        continue;
      }
      if (text == "]") {
        if (state == kBeforeHead) throw Refusal{"the trace has no event"};
        state = kBehind;
        continue;
      }
      if (state == kInside) {
        if (text.front() != ',') throw Refusal{"the line does not begin with a comma"};
        text = Trimmed(text.substr(1));
      }
      RefuseDeepNesting(text);
      TraceJson event;
      try {
        event = TraceJson::parse(text);
      } catch (const TraceJson::parse_error&) {
        // Allowed only in the last line of an incomplete file.
        if (!lines.is_unfinished() || state != kInside) throw Refusal{"this is not JSON"};
        facts.notes.push_back("Line " + std::to_string(lines.number()) + " breaks off and is left out.");
        break;
      }
      const TraceEvent told = EventOf(event, lines.number());
      if (state == kBeforeHead) TakeHead(told, facts);
      state = kInside;
      ++facts.events;
      totals.Add(told);
      constexpr std::size_t kEventsPerShow = 5000;
      if (progress && facts.events % kEventsPerShow == 0) progress(lines.share());
      tell(told);
    }
  } catch (const Refusal& refusal) {
    throw Failure(kBadTrace, path.string() + ":" + std::to_string(lines.number()) + ": " + refusal.reason);
  } catch (const TraceJson::exception& error) {  // a text instead of a number
    throw Failure(kBadTrace, path.string() + ":" + std::to_string(lines.number()) +
                                 ": an argument has another type than it must have: " + error.what());
  }
  if (state == kBeforeBracket) throw Failure(kBadTrace, path.string() + " is empty");
  if (state == kBeforeHead) throw Failure(kBadTrace, path.string() + " ends before its first event");
  if (lines.is_cut()) {
    facts.notes.emplace_back("The compressed file breaks off: the last moments are missing.");
  } else if (state == kInside) {
    facts.notes.emplace_back(
        "The closing bracket is missing: the program was killed while it wrote the trace.");
  }
  return facts;
}

}  // namespace sampan::tool
