// The findings of a run as one HTML page.
#include "tools/sampan/check/reports/findings_page.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/system/open_to_read.h"
#include "tools/sampan/check/finding/finding_kinds.h"
#include "tools/sampan/check/reports/findings_json.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/page/html_page.h"

namespace sampan::tool {
namespace {

using nlohmann::ordered_json;

/// Lines shown before and behind a place.
constexpr int kLinesAround = 4;
/// A place behind this line is in a generated file, whose lines help no reader.
constexpr int kMaxLine = 200'000;
constexpr std::size_t kMaxShownBytes = 240;

using WantedLines = std::map<std::string, std::set<int>>;

void AddStack(const Stack& stack, WantedLines& wanted) {
  for (const Frame& frame : stack) {
    if (frame.file.empty() || frame.line <= 0 || frame.line > kMaxLine) continue;
    for (int line = std::max(1, frame.line - kLinesAround); line <= frame.line + kLinesAround; ++line)
      wanted[frame.file].insert(line);
  }
}

/// The lines by their numbers; nothing if the file cannot be read.
ordered_json ReadLines(const std::string& path, const std::set<int>& wanted) {
  ordered_json lines = ordered_json::object();
  // A path of debug information may name anything, also a FIFO.
  if (!OpenToRead(path).ok()) return lines;
  std::ifstream file(path);
  int number = 0;
  for (std::string text; number < *wanted.rbegin() && std::getline(file, text);) {
    if (!wanted.contains(++number)) continue;
    if (text.size() > kMaxShownBytes) text = text.substr(0, kMaxShownBytes) + "...";
    if (text.ends_with('\r')) text.pop_back();
    lines[std::to_string(number)] = text;
  }
  return lines;
}

ordered_json SourcesOf(const CheckedRun& run) {
  WantedLines wanted;
  for (const Finding& finding : run.findings) {
    for (const FoundAccess& access : finding.accesses)
      AddStack(access.stack, wanted);
    if (finding.buffer) AddStack(finding.buffer->stack, wanted);
  }
  ordered_json sources = ordered_json::object();
  for (const auto& [path, numbers] : wanted)
    sources[path] = ReadLines(path, numbers);
  return sources;
}

}  // namespace

std::string FindingsPage(const CheckedRun& run, const std::string& schedule) {
  ordered_json kinds = ordered_json::object();
  for (const FindingKind& kind : FindingKinds())
    kinds[std::string(kind.name)] = kind.meaning;
  return HtmlPage(kCheckPage, WriteJson({{"report", FindingsValue(run)},
                                         {"schedule", schedule},
                                         {"kinds", std::move(kinds)},
                                         {"sources", SourcesOf(run)}}));
}

}  // namespace sampan::tool
