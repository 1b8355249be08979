// The dump service for operators: its states and its file are checked, and nothing is dumped.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

Result<core::ComputeSettings*> DumpSettings() {
  if (!DumpOfInit().initialized) return Error{Code::kUninitialize, "aclInit was not called"};
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  return &(*runtime)->compute_settings();
}

Status DumpNotOpen() {
  return {Code::kDumpNotRun, "the dump service is not open: call aclmdlInitDump first"};
}

/// What a value in the file is.
enum class DumpValue { kString, kArray, kObject, kOther };

/// Checks the file while it is parsed. Builds no tree, because destroying a tree may need memory.
class DumpReader {
 public:
  using string_t = json::string_t;

  bool null() { return Value(DumpValue::kOther, "null"); }
  bool boolean(bool value) { return Value(DumpValue::kOther, value ? "true" : "false"); }
  bool number_integer(json::number_integer_t value) { return Value(DumpValue::kOther, Text(value)); }
  bool number_unsigned(json::number_unsigned_t value) { return Value(DumpValue::kOther, Text(value)); }
  bool number_float(json::number_float_t, const string_t& text) { return Value(DumpValue::kOther, text); }
  bool binary(json::binary_t&) { return Value(DumpValue::kOther, "binary"); }
  bool string(string_t& value) { return Value(DumpValue::kString, value); }
  bool start_object(std::size_t) {
    return (path_.empty() || Value(DumpValue::kObject, "an object")) && Open();
  }
  bool start_array(std::size_t) { return Value(DumpValue::kArray, "an array") && Open(); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool key(string_t& name) {
    path_.back() = name;
    return true;
  }
  bool parse_error(std::size_t, const string_t&, const json::exception&) { return false; }

  Status TakeRefused() { return std::move(refused_); }

 private:
  bool Value(DumpValue kind, std::string_view text) {
    if (path_.empty()) return false;  // the file must be an object
    if (path_[0] != "dump" || path_.size() > 2) return true;
    if (path_.size() == 1) return kind == DumpValue::kObject || Refuse(text, "it must be an object");
    return CheckMember(kind, text);
  }
  /// A member of `dump`. Unknown ones are ignored.
  bool CheckMember(DumpValue kind, std::string_view text) {
    const std::string& name = path_[1];
    if (name == "dump_path") return kind == DumpValue::kString || Refuse(text, "it must be a string");
    if (name == "dump_list") return kind == DumpValue::kArray || Refuse(text, "it must be an array");
    const auto* const known = std::find_if(kDumpKeys.begin(), kDumpKeys.end(),
                                           [&](const DumpKey& each) { return each.name == name; });
    if (known == kDumpKeys.end()) return true;
    const bool is_word = std::find(known->words.begin(), known->words.end(), text) != known->words.end();
    return (kind == DumpValue::kString && is_word) ||
           Refuse(text, Text("it must be \"", known->words[0], "\" or \"", known->words[1], "\"",
                             known->words[2] == known->words[0] ? "" : " or \"all\""));
  }
  bool Refuse(std::string_view text, std::string_view wanted) {
    refused_ =
        Status(Code::kInvalidDumpConfig, Text(std::string_view(path_.back()), " is ", text, ": ", wanted));
    return false;
  }
  bool Open() {
    path_.emplace_back();
    return path_.size() <= static_cast<std::size_t>(kMaxNesting);
  }
  bool Close() {
    path_.pop_back();
    return true;
  }

  std::vector<std::string> path_;  // the key at each level; empty inside arrays
  Status refused_;
};

Status CheckDumpFile(const char* path) {
  auto config = ReadConfigText(path);
  if (!config.ok()) return config.TakeStatus();
  if (config->empty()) return {};
  DumpReader reader;
  if (json::sax_parse(*config, &reader)) return {};
  if (Status refused = reader.TakeRefused(); !refused.ok()) return refused;
  return {Code::kParseFile, Text("the file '", std::string_view(path), "' is no JSON object of at most ",
                                 kMaxNesting, " levels")};
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
    if (!(*settings)->dump_explained.exchange(true)) {
      Log(LogLevel::kWarning, "ASCENDCL", "aclmdlInitDump: no operator runs here, so nothing will be dumped");
    }
    if ((*settings)->dump_open.exchange(true)) {
      return {Code::kRepeatInitialize, "the dump service is open already"};
    }
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
