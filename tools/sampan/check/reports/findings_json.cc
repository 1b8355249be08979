// The findings of a run as JSON. docs/CHECK.md has the format.
#include "tools/sampan/check/reports/findings_json.h"

#include <nlohmann/json.hpp>

namespace sampan::tool {
namespace {

using nlohmann::ordered_json;

template <typename Value>
ordered_json OrNull(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json OrNull(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json StackJson(const Stack& stack) {
  ordered_json frames = ordered_json::array();
  for (const Frame& frame : stack) {
    frames.push_back({{"function", OrNull(frame.function)},
                      {"file", OrNull(frame.file)},
                      {"line", frame.file.empty() ? ordered_json(nullptr) : ordered_json(frame.line)},
                      {"module", frame.module},
                      {"offset", frame.offset}});
  }
  return frames;
}

ordered_json BufferJson(const std::optional<FoundBuffer>& buffer) {
  if (!buffer) return nullptr;
  return {{"what", buffer->what},   {"device", OrNull(buffer->device)}, {"address", buffer->address},
          {"bytes", buffer->bytes}, {"call", OrNull(buffer->call)},     {"stack", StackJson(buffer->stack)}};
}

ordered_json AccessJson(const FoundAccess& access) {
  return {
      {"call", OrNull(access.call)},     {"does", access.does},           {"device", OrNull(access.device)},
      {"stream", OrNull(access.stream)}, {"entry", OrNull(access.entry)}, {"thread", OrNull(access.thread)},
      {"begin", OrNull(access.begin)},   {"end", OrNull(access.end)},     {"stack", StackJson(access.stack)}};
}

ordered_json FindingJson(const Finding& finding) {
  ordered_json accesses = ordered_json::array();
  for (const FoundAccess& access : finding.accesses)
    accesses.push_back(AccessJson(access));
  ordered_json overlap = nullptr;
  if (finding.overlap) overlap = {{"begin", finding.overlap->begin}, {"end", finding.overlap->end}};
  return {{"id", finding.id},
          {"kind", finding.kind},
          {"severity", finding.is_error ? "error" : "warning"},
          {"count", finding.count},
          {"message", finding.message},
          {"fix", finding.fix},
          {"buffer", BufferJson(finding.buffer)},
          {"overlap", std::move(overlap)},
          {"accesses", std::move(accesses)}};
}

}  // namespace

ordered_json FindingsValue(const CheckedRun& run) {
  ordered_json findings = ordered_json::array();
  for (const Finding& finding : run.findings)
    findings.push_back(FindingJson(finding));
  return {{"version", 1},
          {"program", run.program},
          {"errors", run.CountErrors()},
          {"warnings", run.CountWarnings()},
          {"findings", std::move(findings)}};
}

std::string FindingsJson(const CheckedRun& run) {
  return WriteJson(FindingsValue(run));
}

std::string WriteJson(const ordered_json& value) {
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sampan::tool
