// Reads traces in the format of docs/TRACE.md.
#include "tools/sampan/shared/trace/trace_reader.h"

#include <charconv>
#include <cmath>

#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/trace/trace_lines.h"

namespace sampan::tool {
namespace {

/// What a line is refused for; the reader adds file and line.
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

/// Microseconds with decimals.
std::int64_t TimeField(const TraceJson& event, const char* name) {
  const TraceJson& field = Field(event, name);
  const double microseconds = field.is_number() ? field.get<double>() : -1;
  if (!(microseconds >= 0 && microseconds < 9e15))
    throw Refusal{std::string("\"") + name + "\" is not a number of microseconds"};
  return std::llround(microseconds * 1000);
}

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

std::string_view TraceEvent::Text(const char* argument) const {
  const TraceJson* const found = Find(argument);
  if (found == nullptr) return {};
  if (!found->is_string()) throw Refusal{std::string("the argument \"") + argument + "\" is not a text"};
  return found->get_ref<const std::string&>();
}

TraceFacts ReadTrace(const std::filesystem::path& path, const std::function<void(const TraceEvent&)>& tell) {
  TraceLines lines(path);
  TraceFacts facts;
  enum { kBeforeBracket, kBeforeHead, kInside, kBehind } state = kBeforeBracket;
  std::string_view line;
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
      TraceJson event;
      try {
        event = TraceJson::parse(text);
      } catch (const TraceJson::parse_error&) {
        // The last line of a file that breaks off; anywhere else it is damage.
        if (!lines.is_unfinished() || state != kInside) throw Refusal{"this is not JSON"};
        facts.notes.push_back("Line " + std::to_string(lines.number()) + " breaks off and is left out.");
        break;
      }
      const TraceEvent told = EventOf(event, lines.number());
      if (state == kBeforeHead) TakeHead(told, facts);
      state = kInside;
      ++facts.events;
      tell(told);
    }
  } catch (const Refusal& refusal) {
    throw Failure(kBadTrace, path.string() + ":" + std::to_string(lines.number()) + ": " + refusal.reason);
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
