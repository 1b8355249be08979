// The findings of a run as SARIF 2.1.0, which editors and code hosts read.
#include "tools/sampan/check/reports/findings_sarif.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/sampan/check/finding/finding_kinds.h"
#include "tools/sampan/check/finding/frame_words.h"
#include "tools/sampan/check/reports/findings_json.h"

namespace sampan::tool {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A path as a URI. Everything but the unreserved characters is escaped.
std::string FileUri(const std::string& path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char letter : path) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 || std::string_view("/-._~").find(letter) != std::string_view::npos) {
      uri += letter;
      continue;
    }
    uri += '%';
    uri += kDigits[byte >> 4];
    uri += kDigits[byte & 15];
  }
  return uri;
}

const char* Level(bool is_error) {
  return is_error ? "error" : "warning";
}

ordered_json LocationOf(const Frame& frame, const std::string& message) {
  ordered_json location = ordered_json::object();
  if (!frame.file.empty()) {
    location["physicalLocation"]["artifactLocation"]["uri"] = FileUri(frame.file);
    if (frame.line > 0) location["physicalLocation"]["region"]["startLine"] = frame.line;
  }
  if (!frame.function.empty())
    location["logicalLocations"] = ordered_json::array({{{"fullyQualifiedName", frame.function}}});
  if (!message.empty()) location["message"]["text"] = message;
  return location;
}

ordered_json StackOf(const Stack& stack, const std::string& message) {
  ordered_json frames = ordered_json::array();
  for (const Frame& frame : stack)
    frames.push_back({{"location", LocationOf(frame, "")}, {"module", frame.module}});
  return {{"message", {{"text", message}}}, {"frames", std::move(frames)}};
}

ordered_json RuleOf(const FindingKind& kind) {
  return {{"id", kind.name},
          {"shortDescription", {{"text", kind.meaning}}},
          {"defaultConfiguration", {{"level", Level(kind.is_error)}}}};
}

/// The place at which an editor shows the finding: the later access, where the mistake becomes one.
const Stack* MainStack(const Finding& finding) {
  if (!finding.accesses.empty()) return &finding.accesses.back().stack;
  return finding.buffer ? &finding.buffer->stack : nullptr;
}

ordered_json ResultOf(const Finding& finding) {
  ordered_json result = {
      {"ruleId", finding.kind},
      {"level", Level(finding.is_error)},
      {"message", {{"text", finding.message + (finding.fix.empty() ? "" : ". Fix: " + finding.fix)}}},
      {"locations", ordered_json::array()},
      {"relatedLocations", ordered_json::array()},
      {"stacks", ordered_json::array()},
      {"occurrenceCount", std::max<std::uint64_t>(finding.count, 1)},
      {"partialFingerprints", {{"sampanFindingId/v1", finding.id}}}};
  const auto kind = std::find_if(FindingKinds().begin(), FindingKinds().end(),
                                 [&](const FindingKind& each) { return each.name == finding.kind; });
  if (kind != FindingKinds().end()) result["ruleIndex"] = kind - FindingKinds().begin();
  if (const Stack* const stack = MainStack(finding); stack != nullptr && !stack->empty())
    result["locations"].push_back(LocationOf(stack->front(), ""));
  int number = 0;
  const auto relate = [&](const Stack& stack, const std::string& message) {
    if (stack.empty()) return;
    ordered_json location = LocationOf(stack.front(), message);
    location["id"] = ++number;
    result["relatedLocations"].push_back(std::move(location));
    result["stacks"].push_back(StackOf(stack, message));
  };
  for (const FoundAccess& access : finding.accesses)
    relate(access.stack, DescribeAccess(access));
  if (finding.buffer) relate(finding.buffer->stack, DescribeBuffer(*finding.buffer));
  return result;
}

}  // namespace

std::string FindingsSarif(const CheckedRun& run, int exit_status) {
  ordered_json rules = ordered_json::array();
  for (const FindingKind& kind : FindingKinds())
    rules.push_back(RuleOf(kind));
  ordered_json results = ordered_json::array();
  for (const Finding& finding : run.findings)
    results.push_back(ResultOf(finding));
  std::string command = "sampan check --";
  for (const std::string& word : run.program)
    command += " " + word;
  const ordered_json driver = {
      {"name", "sampan check"}, {"version", SAMPAN_VERSION}, {"rules", std::move(rules)}};
  const ordered_json invocation = {
      {"commandLine", command}, {"exitCode", exit_status}, {"executionSuccessful", true}};
  const ordered_json only_run = {{"tool", {{"driver", driver}}},
                                 {"columnKind", "utf16CodeUnits"},
                                 {"invocations", ordered_json::array({invocation})},
                                 {"results", std::move(results)}};
  return WriteJson({{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", ordered_json::array({only_run})}});
}

}  // namespace sampan::tool
