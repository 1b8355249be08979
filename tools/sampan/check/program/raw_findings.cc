// Reads what a program under check wrote. src/check/findings/findings_file.h has the format.
#include "tools/sampan/check/program/raw_findings.h"

#include <nlohmann/json.hpp>

#include "tools/sampan/check/finding/finding_id.h"
#include "tools/sampan/check/finding/finding_kinds.h"
#include "tools/sampan/check/finding/frame_words.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

using nlohmann::json;

/// The field, if the object has it with a number that fits.
template <typename Number>
std::optional<Number> NumberOf(const json& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<Number>();
}

std::string TextOf(const json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? Printable(found->get<std::string>()) : std::string();
}

/// The field, if it is an object.
const json* ObjectOf(const json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

/// Puts the places of a finding where its text has "{0}", "{1}" or "{buffer}".
std::string Filled(std::string text, const Finding& finding) {
  const auto fill = [&](const std::string& name, const Stack& stack) {
    const std::string place = DescribePlace(stack);
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += place.size())
      text.replace(at, name.size(), place);
  };
  for (std::size_t i = 0; i < finding.accesses.size(); ++i)
    fill("{" + std::to_string(i) + "}", finding.accesses[i].stack);
  if (finding.buffer) fill("{buffer}", finding.buffer->stack);
  return text;
}

}  // namespace

std::optional<RawNews> RawFindings::Understand(std::string_view text) {
  const json line = json::parse(text, nullptr, false);
  if (!line.is_object()) return std::nullopt;
  const std::string type = TextOf(line, "type");
  const auto pid = NumberOf<std::int64_t>(line, "pid");
  if (!pid) return std::nullopt;
  if (type == "program") AddProcess(*pid, line);
  if (type == "module") AddModule(*pid, line);
  if (type == "end") EndProcess(*pid, line);
  const auto number = NumberOf<std::int64_t>(line, "number");
  if (!number) return std::nullopt;
  if (type == "held") processes_[*pid].held[*number] = text;
  RawNews news{.of = {*pid, *number}};
  if (type == "finding") news.finding = ReadFinding(*pid, line);
  if (type == "count") news.count = NumberOf<std::uint64_t>(line, "count");
  return news;
}

void RawFindings::AddProcess(std::int64_t pid, const json& line) {
  // A process that executes another program begins again.
  Process& process = processes_[pid] = {};
  const auto argv = line.find("argv");
  if (argv != line.end() && argv->is_array() && !argv->empty() && argv->front().is_string())
    process.program = Printable(argv->front().get<std::string>());
}

void RawFindings::AddModule(std::int64_t pid, const json& line) {
  if (const auto id = NumberOf<std::int64_t>(line, "id"))
    processes_[pid].modules[*id] = {TextOf(line, "path"), TextOf(line, "build_id")};
}

void RawFindings::EndProcess(std::int64_t pid, const json& line) {
  processes_[pid].has_ended = true;
  if (TextOf(line, "reason") != "exit") was_ended_ = true;
}

Finding RawFindings::ReadFinding(std::int64_t pid, const json& line) {
  Finding finding{.kind = TextOf(line, "kind"), .is_error = TextOf(line, "severity") != "warning"};
  if (const json* const buffer = ObjectOf(line, "buffer")) finding.buffer = ReadBuffer(pid, *buffer);
  if (const json* const overlap = ObjectOf(line, "overlap"))
    finding.overlap = {NumberOf<std::uint64_t>(*overlap, "begin").value_or(0),
                       NumberOf<std::uint64_t>(*overlap, "end").value_or(0)};
  const auto accesses = line.find("accesses");
  if (accesses != line.end() && accesses->is_array()) {
    for (const json& access : *accesses) {
      if (access.is_object()) finding.accesses.push_back(ReadAccess(pid, access));
    }
  }
  finding.id = FindingId(finding);
  finding.message = Filled(TextOf(line, "message"), finding);
  finding.fix = Filled(TextOf(line, "fix"), finding);
  return finding;
}

FoundAccess RawFindings::ReadAccess(std::int64_t pid, const json& access) {
  return {.call = TextOf(access, "call"),
          .does = TextOf(access, "does"),
          .device = NumberOf<std::int64_t>(access, "device"),
          .stream = NumberOf<std::int64_t>(access, "stream"),
          .entry = NumberOf<std::int64_t>(access, "entry"),
          .thread = NumberOf<std::int64_t>(access, "thread"),
          .begin = NumberOf<std::uint64_t>(access, "begin"),
          .end = NumberOf<std::uint64_t>(access, "end"),
          .stack = ReadStack(pid, access)};
}

FoundBuffer RawFindings::ReadBuffer(std::int64_t pid, const json& buffer) {
  return {.what = TextOf(buffer, "what"),
          .device = NumberOf<std::int64_t>(buffer, "device"),
          .address = TextOf(buffer, "address"),
          .bytes = NumberOf<std::uint64_t>(buffer, "bytes").value_or(0),
          .call = TextOf(buffer, "call"),
          .stack = ReadStack(pid, buffer)};
}

Stack RawFindings::ReadStack(std::int64_t pid, const json& holder) {
  Stack stack;
  const auto frames = holder.find("stack");
  if (frames == holder.end() || !frames->is_array()) return stack;
  for (const json& frame : *frames) {
    if (!frame.is_array() || frame.size() != 2 || !frame[0].is_number_integer() ||
        !frame[1].is_number_integer())
      continue;
    const std::map<std::int64_t, Module>& modules = processes_[pid].modules;
    const auto module = modules.find(frame[0].get<std::int64_t>());
    const auto offset = frame[1].get<std::uint64_t>();
    if (module == modules.end()) {
      stack.push_back({.module = "", .offset = offset});
      continue;
    }
    for (Frame& each : frames_.At(module->second.path, module->second.build_id, offset))
      stack.push_back(std::move(each));
  }
  return ProgramPart(std::move(stack));
}

std::vector<RawFindings::SilentEnding> RawFindings::SilentEndings() const {
  std::vector<SilentEnding> endings;
  for (const auto& [pid, process] : processes_) {
    if (!process.has_ended)
      endings.push_back({pid, process.program + " (process " + std::to_string(pid) + ")"});
  }
  return endings;
}

std::vector<RawNews> RawFindings::Held(std::int64_t process, const std::vector<std::uint64_t>& counters) {
  std::vector<RawNews> all;
  for (const auto& [number, text] : processes_[process].held) {
    if (number <= 0 || static_cast<std::size_t>(number) >= counters.size()) continue;
    const std::uint64_t count = counters[static_cast<std::size_t>(number)];
    if (count == 0) continue;
    const RawNumber of{process, -number};  // findings have numbers from 1
    all.push_back({.of = of, .finding = ReadFinding(process, json::parse(text, nullptr, false))});
    all.push_back({.of = of, .count = count});
  }
  return all;
}

}  // namespace sampan::tool
