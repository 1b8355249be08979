// The settings of a communicator: HcclCommConfig, then the environment, then the defaults.
#include "collectives/comm/comm_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/network/peer_address.h"
#include "base/network/port_ranges.h"
#include "base/system/environment.h"
#include "hccl/report.h"

namespace sampan::collectives {

using hccl::Fail;
using hccl::LogWarning;

namespace {

constexpr u64 kMaxSeconds = 2147483647;

std::optional<u64> ParseNumber(std::string_view text) {
  u64 number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

/// A variable with a number, and what it is read into.
template <typename Take>
HcclResult ReadNumber(const char* function, const char* variable, u64 min, u64 max, Take take) {
  const auto text = EnvironmentValue(variable);
  if (!text) return HCCL_SUCCESS;
  const auto number = ParseNumber(*text);
  if (!number || *number < min || *number > max) {
    return Fail(function, HCCL_E_PARA,
                Text("EI0001: ", variable, " is '", *text, "', it must be a number from ", min, " to ", max));
  }
  take(*number);
  return HCCL_SUCCESS;
}

HcclResult ReadWord(const char* function, const char* variable, std::initializer_list<const char*> words,
                    const std::function<void(std::size_t)>& take) {
  const auto text = EnvironmentValue(variable);
  if (!text) return HCCL_SUCCESS;
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const char* word) { return *text == word; });
  if (found == words.end()) {
    std::string known;
    for (const char* word : words)
      known += Text(known.empty() ? "" : ", ", word);
    return Fail(function, HCCL_E_PARA,
                Text("EI0001: ", variable, " is '", *text, "', it must be one of: ", known));
  }
  take(static_cast<std::size_t>(found - words.begin()));
  return HCCL_SUCCESS;
}

/// A variable with a text that must have a form, in words.
HcclResult ReadForm(const char* function, const char* variable, const char* form,
                    bool (*has_form)(std::string_view)) {
  const auto text = EnvironmentValue(variable);
  if (!text || has_form(*text)) return HCCL_SUCCESS;
  return Fail(function, HCCL_E_PARA,
              Text("EI0001: ", variable, " is '", *text, "', it must be ", std::string_view(form)));
}

/// Calls `each` for the parts between commas, as long as it returns true.
bool AllParts(std::string_view text, const std::function<bool(std::string_view)>& each) {
  for (;;) {
    const std::size_t comma = text.find(',');
    if (!each(text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool IsAddress(std::string_view text) {
  const auto address = ParseAddress(text);
  return address && address->port == 0 && !text.starts_with('[');
}

bool IsPortRanges(std::string_view text) {
  return text == "auto" || ParsePortRanges(text).has_value();
}

/// Other words are those of other chips: nothing follows from them.
HcclOpExpansionMode ExpansionOf(std::string_view word) {
  constexpr std::pair<std::string_view, HcclOpExpansionMode> kWords[] = {
      {"AI_CPU", HCCL_OP_EXPANSION_MODE_AI_CPU}, {"AIV", HCCL_OP_EXPANSION_MODE_AIV},
      {"HOST", HCCL_OP_EXPANSION_MODE_HOST},     {"HOST_TS", HCCL_OP_EXPANSION_MODE_HOST_TS},
      {"CCU_MS", HCCL_OP_EXPANSION_MODE_CCU_MS}, {"CCU_SCHED", HCCL_OP_EXPANSION_MODE_CCU_SCHED}};
  const auto* const found = std::find_if(std::begin(kWords), std::end(kWords),
                                         [&](const auto& each) { return each.first == word; });
  return found == std::end(kWords) ? HCCL_OP_EXPANSION_MODE_INVALID : found->second;
}
/// By the number in HcclCommConfig. 0 and others: not set.
HcclOpExpansionMode ExpansionOf(u32 setting) {
  constexpr HcclOpExpansionMode kModes[] = {HCCL_OP_EXPANSION_MODE_INVALID,  HCCL_OP_EXPANSION_MODE_HOST,
                                            HCCL_OP_EXPANSION_MODE_AI_CPU,   HCCL_OP_EXPANSION_MODE_AIV,
                                            HCCL_OP_EXPANSION_AIV_ONLY,      HCCL_OP_EXPANSION_MODE_CCU_MS,
                                            HCCL_OP_EXPANSION_MODE_CCU_SCHED};
  return setting < std::size(kModes) ? kModes[setting] : HCCL_OP_EXPANSION_MODE_INVALID;
}

/// "name:value" pairs; whether calls are compared is a choice of three.
bool IsFaultSettings(std::string_view text) {
  return AllParts(text, [](std::string_view part) {
    const std::size_t colon = part.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == part.size()) return false;
    const std::string_view value = part.substr(colon + 1);
    return part.substr(0, colon) != "inconsistent_check" || value == "first" || value == "on" ||
           value == "off";
  });
}

/// The part of the configuration that is not for programs.
struct ConfigInfo {
  std::size_t size;
  u32 magic;
  u32 version;
  u64 reserved;
};
static_assert(sizeof(ConfigInfo) == HCCL_COMM_CONFIG_INFO_BYTES);

template <std::size_t kBytes>
std::string TextOf(const char (&field)[kBytes]) {
  return {field, ::strnlen(field, kBytes)};
}

}  // namespace

bool EnvironmentSetsDeterminism() {
  return EnvironmentValue("HCCL_DETERMINISTIC").has_value();
}

HcclResult ReadEnvironment(const char* function, CommOptions& options) {
  options.expansion_mode = ExpansionOf(EnvironmentValue("HCCL_OP_EXPANSION_MODE").value_or(""));
  // The variable of this project has no lower limit, for programs that rather fail soon.
  const std::array results = {
      ReadNumber(function, "HCCL_CONNECT_TIMEOUT", 120, 7200,
                 [&](u64 number) { options.connect_limit = std::chrono::seconds(number); }),
      ReadNumber(function, "SAMPAN_HCCL_CONNECT_TIMEOUT", 1, 7200,
                 [&](u64 number) { options.connect_limit = std::chrono::seconds(number); }),
      ReadNumber(function, "HCCL_EXEC_TIMEOUT", 0, kMaxSeconds,
                 [&](u64 number) { options.exec_limit = std::chrono::seconds(number); }),
      ReadNumber(function, "HCCL_BUFFSIZE", 1, UINT32_MAX,
                 [&](u64 number) { options.buffer_mb = static_cast<u32>(number); }),
      ReadNumber(function, "HCCL_IF_BASE_PORT", 1024, 65520, [](u64) {}),
      ReadForm(function, "HCCL_IF_IP", "an IPv4 or IPv6 address", IsAddress),
      ReadForm(function, "HCCL_HOST_SOCKET_PORT_RANGE", "auto, or ports as in 60000-60050,60100",
               IsPortRanges),
      ReadForm(function, "HCCL_NPU_SOCKET_PORT_RANGE", "auto, or ports as in 60000-60050,60100",
               IsPortRanges),
      ReadForm(function, "HCCL_DFS_CONFIG", "as in cluster_heartbeat:on,inconsistent_check:first",
               IsFaultSettings),
      ReadWord(function, "HCCL_DETERMINISTIC", {"false", "true", "strict"},
               [&](std::size_t index) { options.deterministic = static_cast<u32>(index); }),
      ReadWord(function, "HCCL_SOCKET_FAMILY", {"AF_INET", "AF_INET6"}, [](std::size_t) {}),
  };
  const auto wrong =
      std::find_if(results.begin(), results.end(), [](HcclResult r) { return r != HCCL_SUCCESS; });
  return wrong == results.end() ? HCCL_SUCCESS : *wrong;
}

HcclResult ApplyConfig(const char* function, const HcclCommConfig* config, CommOptions& options) {
  if (config == nullptr) return Fail(function, HCCL_E_PTR, "config is NULL");
  ConfigInfo info;
  std::memcpy(&info, config, sizeof(info));
  const auto wrong = [&](const std::string& text) { return Fail(function, HCCL_E_PARA, "EI0003: " + text); };
  if (info.magic != HCCL_COMM_CONFIG_MAGIC_WORD) {
    return wrong(Text("config has the magic word ", Hex(std::uintptr_t{info.magic}),
                      ": fill it by HcclCommConfigInit"));
  }
  HcclCommConfig known;
  HcclCommConfigInit(&known);
  if (info.size < sizeof(info)) return wrong(Text("config has ", info.size, " bytes"));
  if (info.size != sizeof(known))
    LogWarning(Text(function, ": config has ", info.size, " bytes, this library knows ", sizeof(known)));
  if (info.version > HCCL_COMM_CONFIG_VERSION) {
    LogWarning(Text(function, ": config has version ", info.version, ", this library knows ",
                    static_cast<u32>(HCCL_COMM_CONFIG_VERSION)));
  }
  std::memcpy(&known, config, std::min(info.size, sizeof(known)));
  if (known.hcclBufferSize == 0) return wrong("hcclBufferSize is 0, it must be at least 1 (MB)");
  if (known.hcclBufferSize != HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET) options.buffer_mb = known.hcclBufferSize;
  if (known.hcclDeterministic != HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET) {
    if (known.hcclDeterministic > 2)
      return wrong(Text("hcclDeterministic is ", known.hcclDeterministic, ", it must be 0, 1 or 2"));
    options.deterministic = known.hcclDeterministic;
  }
  if (const auto mode = ExpansionOf(known.hcclOpExpansionMode); mode != HCCL_OP_EXPANSION_MODE_INVALID)
    options.expansion_mode = mode;
  options.name = TextOf(known.hcclCommName);
  if (options.name.size() >= COMM_NAME_MAX_LENGTH)
    return wrong(Text("hcclCommName has no NUL in its ", COMM_NAME_MAX_LENGTH, " bytes"));
  options.free_text = TextOf(known.hcclUdi);
  if (info.version >= 10) options.max_window_gb = known.hcclSymWinMaxMemSizePerRank;
  if (info.version >= 8 && known.hcclExecTimeOut != -1) {
    if (known.hcclExecTimeOut < 0)
      return wrong(Text("hcclExecTimeOut is ", known.hcclExecTimeOut, ", it must be 0 or more (seconds)"));
    options.exec_limit = std::chrono::seconds(known.hcclExecTimeOut);
  }
  return HCCL_SUCCESS;
}

}  // namespace sampan::collectives
