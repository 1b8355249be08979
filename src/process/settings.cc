// The settings of the runtime, read from the environment once.
#include "process/settings.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error/text.h"
#include "base/system/environment.h"
#include "core/memory/peer_access.h"

namespace sampan::process {
namespace {

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> ParseNumber(std::string_view text, std::uint64_t min, std::uint64_t max) {
  const auto number = ParseNumber(text);
  return number && *number >= min && *number <= max ? number : std::nullopt;
}

/// The limit at which both views of a device's addresses fit into an address space.
constexpr std::uint64_t kMaxDeviceBytes = std::uint64_t{8} << 40;

std::optional<std::size_t> ParseBytes(std::string_view text) {
  unsigned shift = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K':
        shift = 10;
        break;
      case 'M':
        shift = 20;
        break;
      case 'G':
        shift = 30;
        break;
      default:
        break;
    }
  }
  if (shift != 0) text.remove_suffix(1);
  const auto number = ParseNumber(text, 1, kMaxDeviceBytes >> shift);
  return number ? std::optional<std::size_t>(*number << shift) : std::nullopt;
}

/// Two hexadecimal digits behind 0x.
std::optional<std::byte> ParseByte(std::string_view text) {
  constexpr std::size_t kLength = 4;
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  if (text.size() != kLength || !text.starts_with("0x") ||
      std::from_chars(text.data() + 2, end, number, 16).ptr != end)
    return std::nullopt;
  return static_cast<std::byte>(number);
}

bool ParseSwitch(std::string_view text, bool& value) {
  value = text == "1";
  return text == "1" || text == "0";
}

bool ParseSchedule(std::string_view text, emulated::Schedule& schedule) {
  using Kind = emulated::Schedule::Kind;
  constexpr std::string_view kSeed = "seed:";
  if (text == "parallel")
    schedule.kind = Kind::kParallel;
  else if (text == "early")
    schedule.kind = Kind::kEarly;
  else if (text == "late")
    schedule.kind = Kind::kLate;
  else if (const auto seed =
               text.starts_with(kSeed) ? ParseNumber(text.substr(kSeed.size())) : std::nullopt) {
    schedule = {Kind::kSeeded, *seed};
  } else {
    return false;
  }
  return true;
}

bool ParsePath(std::string_view text, std::optional<cuda::CopyPath>& path) {
  using cuda::CopyPath;
  for (const auto each : {CopyPath::kEngine, CopyPath::kBatchCall, CopyPath::kKernel, CopyPath::kDense,
                          CopyPath::kBlocking, CopyPath::kStaged}) {
    if (text == cuda::Describe(each)) path = each;
  }
  return path.has_value();
}

bool ParseQuietness(std::string_view text, cuda::Quietness& quietness) {
  using cuda::Quietness;
  for (const auto each : {Quietness::kAuto, Quietness::kSpeed, Quietness::kQuiet}) {
    if (text != cuda::Describe(each)) continue;
    quietness = each;
    return true;
  }
  return false;
}

bool ParseFault(std::string_view text, Settings& settings) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const auto n = ParseNumber(text.substr(colon + 1), 1, std::numeric_limits<std::uint64_t>::max());
  const std::string_view kind = text.substr(0, colon);
  if (!n || (kind != "memory" && kind != "queue")) return false;
  (kind == "memory" ? settings.fail_memory_at : settings.fail_queue_at) = *n;
  return true;
}

template <typename T>
bool Store(const std::optional<std::uint64_t>& number, T& value) {
  if (number) value = static_cast<T>(*number);
  return number.has_value();
}

struct Setting {
  std::string_view name;
  std::string_view accepted;
  std::string_view preset;
  std::string_view meaning;
  bool (*parse)(std::string_view text, Settings& settings);
};

constexpr std::array kSettings = {
    Setting{"SAMPAN_BACKEND", "emulated or cuda", "emulated", "what makes devices real",
            [](std::string_view text, Settings& settings) {
              settings.backend = text == "cuda" ? BackendKind::kCuda : BackendKind::kEmulated;
              return text == "emulated" || text == "cuda";
            }},
    Setting{"SAMPAN_DEVICES", "1 to 64", "8; on cuda, one for each GPU",
            "how many devices the machine has; on cuda, more than GPUs share them",
            [](std::string_view text, Settings& settings) {
              return Store(ParseNumber(text, 1, core::kMaxDevices), settings.devices);
            }},
    Setting{"SAMPAN_DEVICE_MEMORY", "bytes up to 8192G, with K, M or G behind the number",
            "what the chip has (64G); on cuda, the GPU's free memory, divided by the devices on it",
            "how much memory each device has",
            [](std::string_view text, Settings& settings) {
              return Store(ParseBytes(text), settings.device_bytes);
            }},
    Setting{"SAMPAN_HOST_MEMORY", "bytes up to 8192G, with K, M or G behind the number",
            "half of the host's free memory",
            "how much of the host's memory all emulated devices may take by being written",
            [](std::string_view text, Settings& settings) {
              return Store(ParseBytes(text), settings.host_bytes);
            }},
    Setting{"SAMPAN_FRESH_MEMORY", "a byte from 0x00 to 0xff", "zeros; on cuda, what was there before",
            "fills new device memory, so that a program that forgets to write it notices",
            [](std::string_view text, Settings& settings) {
              settings.fresh_byte = ParseByte(text);
              return settings.fresh_byte.has_value();
            }},
    Setting{"SAMPAN_ENGINES", "1 to 64", "the number of cores, at most 4",
            "copy engines (threads) of each emulated device",
            [](std::string_view text, Settings& settings) {
              return Store(ParseNumber(text, 1, 64), settings.engines);
            }},
    Setting{"SAMPAN_PROFILE",
            "a chip (ascend910b, ascend910c, ascend310-rc), a release (cann8, cann9) and real-limits, joined "
            "by commas",
            "ascend910b,cann8", "which chip and which CANN release is imitated",
            [](std::string_view text, Settings& settings) {
              auto profile = core::FindProfile(text);
              if (profile.ok()) settings.profile = *profile;
              return profile.ok() && !text.empty();
            }},
    Setting{"SAMPAN_SCHEDULE", "parallel, early, late or seed:N", "parallel",
            "in which order emulated devices work where the rules leave it open",
            [](std::string_view text, Settings& settings) { return ParseSchedule(text, settings.schedule); }},
    Setting{"SAMPAN_COPY_PATH", "auto, engine, batch, kernel, dense, blocking or staged", "auto",
            "which way batches, rows and copies within a device take on cuda, or with the last two linear "
            "copies of pageable memory; auto chooses by measurement",
            [](std::string_view text, Settings& settings) {
              return text == "auto" || ParsePath(text, settings.copy_paths.path);
            }},
    Setting{
        "SAMPAN_COPY_QUIET", "auto, speed or quiet", "auto",
        "what copies on cuda may cost the kernels beside them: with auto, kernels between host and device "
        "have "
        "two or three multiprocessors; with speed, as many as make any batch fast; with quiet, there is no "
        "kernel where an engine can copy",
        [](std::string_view text, Settings& settings) {
          return ParseQuietness(text, settings.copy_paths.quietness);
        }},
    Setting{"SAMPAN_COPY_BLOCKS", "1 to 1024", "by measurement",
            "how many blocks of threads a copy kernel has on cuda",
            [](std::string_view text, Settings& settings) {
              return Store(ParseNumber(text, 1, 1024), settings.copy_paths.blocks);
            }},
    Setting{"SAMPAN_COPY_TABLE", "a file of limits, see docs/COPY_TABLE.md", "what is shipped for the GPU",
            "the measured limits by which copies on cuda take their ways",
            [](std::string_view text, Settings& settings) {
              settings.copy_table = text;
              return !text.empty();
            }},
    Setting{"SAMPAN_PEER_TIMEOUT", "1 to 600", "3",
            "after how many seconds without an answer a process of another host is lost",
            [](std::string_view text, Settings& settings) {
              return Store(ParseNumber(text, 1, 600), settings.peer_timeout_s);
            }},
    Setting{"SAMPAN_BACKTRACE", "0 or 1", "0", "messages about memory say where it was allocated",
            [](std::string_view text, Settings& settings) { return ParseSwitch(text, settings.backtrace); }},
    Setting{"SAMPAN_TRACE", "a file name, which may hold %p for the process", "none",
            "writes a timeline of calls and copies there, compressed if the name ends in .gz",
            [](std::string_view text, Settings& settings) {
              settings.trace = text;
              return !text.empty();
            }},
    Setting{"SAMPAN_SUMMARY", "0 or 1", "0", "prints what was copied, and how fast, when the program ends",
            [](std::string_view text, Settings& settings) { return ParseSwitch(text, settings.summary); }},
    Setting{"SAMPAN_SUMMARY_KEPT", "a folder", "none",
            "the summary so far is kept there, for the command sampan run",
            [](std::string_view text, Settings& settings) {
              settings.summary_kept = text;
              return !text.empty();
            }},
    Setting{"SAMPAN_CHECK", "0 or 1", "0", "finds wrong copies, waits and frees, and tells them at once",
            [](std::string_view text, Settings& settings) { return ParseSwitch(text, settings.check); }},
    Setting{"SAMPAN_CHECK_FINDINGS", "a file name", "none",
            "the checker writes its raw findings there, for the command sampan check",
            [](std::string_view text, Settings& settings) {
              settings.check_findings = text;
              return !text.empty();
            }},
    Setting{"SAMPAN_CHECK_JSON", "a file name, which may hold %p for the process", "none",
            "the checker writes its report there when the program ends",
            [](std::string_view text, Settings& settings) {
              settings.check_json = text;
              return !text.empty();
            }},
    Setting{"SAMPAN_CHECK_UNWRITTEN", "0 or 1", "1, on cuda 0",
            "the checker finds copies of device memory that nothing wrote; it sees no writes of CUDA kernels",
            [](std::string_view text, Settings& settings) {
              return ParseSwitch(text, settings.check_unwritten.emplace());
            }},
    Setting{
        "SAMPAN_SIGNAL_REPORT", "0 or 1", "1",
        "says what each stream waits for when SIGINT, SIGTERM or SIGQUIT ends the program",
        [](std::string_view text, Settings& settings) { return ParseSwitch(text, settings.signal_report); }},
    Setting{"SAMPAN_HCCL_CONNECT_TIMEOUT", "1 to 7200 seconds", "HCCL_CONNECT_TIMEOUT, or 120",
            "how long a rank waits for the others to join its communicator",
            [](std::string_view text, Settings&) { return ParseNumber(text, 1, 7200).has_value(); }},
    Setting{"SAMPAN_FAULT", "memory:N or queue:N", "none",
            "makes the N-th allocation or queue operation fail, once",
            [](std::string_view text, Settings& settings) { return ParseFault(text, settings); }},
    Setting{"SAMPAN_HELP", "0 or 1", "0", "prints this list when the runtime starts",
            [](std::string_view text, Settings& settings) { return ParseSwitch(text, settings.help); }},
};

/// An error in the file names the setting that named the file.
Status ReadNamedTable(std::string_view setting, Settings& settings) {
  if (settings.copy_table.empty() || !settings.copy_paths.tables.empty()) return {};
  auto tables = cuda::ReadCopyTables(settings.copy_table);
  if (!tables.ok()) return {Code::kDeviceSetupError, Text(setting, ": ", tables.error().message)};
  settings.copy_paths.tables = std::move(*tables);
  return {};
}

}  // namespace

std::string_view Describe(BackendKind kind) {
  return kind == BackendKind::kCuda ? "cuda" : "emulated";
}

Result<Settings> ReadSettings() {
  Settings settings;
  settings.profile = core::FindProfile({}).value();
  for (const auto& [name, value] : EnvironmentWithPrefix("SAMPAN_")) {
    const Setting* known = nullptr;
    std::string names;
    for (const Setting& setting : kSettings) {
      if (setting.name == name) known = &setting;
      names += Text(names.empty() ? "" : ", ", setting.name);
    }
    if (known == nullptr) {
      return Error{Code::kDeviceSetupError, Text(name, " is not a setting; there are ", names)};
    }
    if (!known->parse(value, settings)) {
      return Error{Code::kDeviceSetupError,
                   Text(name, "='", value, "' is not valid; accepted: ", known->accepted)};
    }
    if (Status read = ReadNamedTable(name, settings); !read.ok()) return read;
  }
  if (settings.backend == BackendKind::kCuda) {
    const bool schedule = settings.schedule.kind != emulated::Schedule::Kind::kParallel;
    if (schedule || settings.engines != 0) {
      return Error{Code::kDeviceSetupError,
                   Text(schedule ? "SAMPAN_SCHEDULE" : "SAMPAN_ENGINES",
                        " is for emulated devices: SAMPAN_BACKEND=cuda does not take it")};
    }
  }
  return settings;
}

std::string SettingsHelp() {
  std::string text = "Sampan's settings (environment variables):\n";
  for (const Setting& setting : kSettings) {
    text += Text("  ", setting.name, "\n      ", setting.meaning, "\n      accepted: ", setting.accepted,
                 "; default: ", setting.preset, "\n");
  }
  return text;
}

std::vector<std::int32_t> ReadVisibleDevices(std::int32_t devices) {
  std::vector<std::int32_t> visible;
  const auto list = EnvironmentValue("ASCEND_RT_VISIBLE_DEVICES");
  if (!list) {
    for (std::int32_t id = 0; id < devices; ++id)
      visible.push_back(id);
    return visible;
  }
  std::string_view rest = *list;
  while (!rest.empty()) {
    const std::string_view token = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), token.size() + 1));
    const auto id = ParseNumber(token, 0, static_cast<std::uint64_t>(devices) - 1);
    if (!id) break;  // ignores the rest of the list
    // Ascending, without duplicates: any other list is refused as a whole.
    if (!visible.empty() && static_cast<std::int32_t>(*id) <= visible.back()) return {};
    visible.push_back(static_cast<std::int32_t>(*id));
  }
  return visible;
}

}  // namespace sampan::process
