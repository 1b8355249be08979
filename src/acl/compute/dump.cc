// The dump service for operators: its states and its file are checked, and nothing is dumped.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "acl/acl_rt.h"
#include "acl/guard.h"
#include "acl/init_config.h"
#include "acl/init_state.h"
#include "base/log/log.h"
#include "process/process.h"

namespace sampan::acl {
namespace {

using nlohmann::json;

/// A key of `dump` that takes one of a few words.
struct DumpKey {
  std::string_view name;
  std::array<std::string_view, 3> words;
};
constexpr std::array kDumpKeys = {
    DumpKey{"dump_mode", {"input", "output", "all"}},
    DumpKey{"dump_op_switch", {"on", "off", "on"}},
    DumpKey{"dump_data", {"tensor", "stats", "tensor"}},
};

Result<ComputeSettings*> DumpSettings() {
  if (!DumpOfInit().initialized) return Error{Code::kUninitialize, "aclInit was not called"};
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  return &(*runtime)->compute_settings();
}

Status DumpNotOpen() {
  return {Code::kDumpNotRun, "the dump service is not open: call aclmdlInitDump first"};
}

Status CheckDumpObject(const json& dump) {
  if (!dump.is_object()) return {Code::kInvalidDumpConfig, Text("dump is ", dump.dump(), ", not an object")};
  for (const DumpKey& key : kDumpKeys) {
    const auto found = dump.find(key.name);
    if (found == dump.end()) continue;
    const bool known = found->is_string() && std::find(key.words.begin(), key.words.end(),
                                                       found->get<std::string_view>()) != key.words.end();
    if (!known) {
      return {Code::kInvalidDumpConfig,
              Text(key.name, " is ", found->dump(), ", it must be \"", key.words[0], "\" or \"", key.words[1],
                   "\"", key.words[2] == key.words[0] ? "" : " or \"all\"")};
    }
  }
  if (const auto path = dump.find("dump_path"); path != dump.end() && !path->is_string()) {
    return {Code::kInvalidDumpConfig, Text("dump_path is ", path->dump(), ", not a string")};
  }
  if (const auto list = dump.find("dump_list"); list != dump.end() && !list->is_array()) {
    return {Code::kInvalidDumpConfig, Text("dump_list is ", list->dump(), ", not an array")};
  }
  return {};
}

Status CheckDumpFile(const char* path) {
  auto config = ReadConfigText(path);
  if (!config.ok()) return config.TakeStatus();
  if (config->empty()) return {};
  bool too_deep = false;
  const auto measure = [&too_deep](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kMaxNesting;
    return !too_deep;
  };
  const json document = json::parse(*config, measure, false);
  if (too_deep || !document.is_object()) {
    return {Code::kParseFile, Text("the file '", std::string_view(path), "' is no JSON object of at most ",
                                   kMaxNesting, " levels")};
  }
  const auto dump = document.find("dump");
  return dump == document.end() ? Status() : CheckDumpObject(*dump);
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

// Compatibility: no-op: checks the state; no operator runs, so nothing is dumped
aclError aclmdlInitDump(void) {
  return Guard("aclmdlInitDump", []() -> Status {
    auto settings = DumpSettings();
    if (!settings.ok()) return settings.TakeStatus();
    if (DumpOfInit().set_by_file) {
      return {Code::kRepeatInitialize, "the file of aclInit has set a dump already"};
    }
    if ((*settings)->dump_open.exchange(true))
      return {Code::kRepeatInitialize, "the dump service is open already"};
    Log(LogLevel::kWarning, "ASCENDCL", "aclmdlInitDump: no operator runs here, so nothing will be dumped");
    return {};
  });
}

// Compatibility: no-op: checks the file; no operator runs, so nothing is dumped
aclError aclmdlSetDump(const char* dumpCfgPath) {
  return Guard("aclmdlSetDump", [&]() -> Status {
    auto settings = DumpSettings();
    if (!settings.ok()) return settings.TakeStatus();
    if (!(*settings)->dump_open) return DumpNotOpen();
    if (Status present = RequireNonNull("dumpCfgPath", dumpCfgPath); !present.ok()) return present;
    return CheckDumpFile(dumpCfgPath);
  });
}

// Compatibility: no-op: checks the state; no operator runs, so nothing is dumped
aclError aclmdlFinalizeDump(void) {
  return Guard("aclmdlFinalizeDump", []() -> Status {
    auto settings = DumpSettings();
    if (!settings.ok()) return settings.TakeStatus();
    return (*settings)->dump_open.exchange(false) ? Status() : DumpNotOpen();
  });
}
