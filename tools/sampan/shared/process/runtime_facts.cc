// Facts about the runtime: settings and their sources, versions, devices.
#include "tools/sampan/shared/process/runtime_facts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "bench/measure/acl_call.h"
#include "tools/sampan/shared/process/environment.h"

namespace sampan::tool {
namespace {

/// Captures standard error while it exists.
class ErrorCapture {
 public:
  ErrorCapture()
      : before_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)), file_(::memfd_create("stderr", MFD_CLOEXEC)) {
    if (before_ >= 0 && file_ >= 0) ::dup2(file_, STDERR_FILENO);
  }
  ~ErrorCapture() {
    Stop();
    if (file_ >= 0) ::close(file_);
  }
  ErrorCapture(const ErrorCapture&) = delete;
  ErrorCapture& operator=(const ErrorCapture&) = delete;

  std::string Stop() {
    if (before_ >= 0) {
      ::dup2(before_, STDERR_FILENO);
      ::close(before_);
      before_ = -1;
    }
    std::string text;
    std::array<char, 4096> part;
    ssize_t got = 0;
    while ((got = ::pread(file_, part.data(), part.size(), static_cast<off_t>(text.size()))) > 0)
      text.append(part.data(), static_cast<std::size_t>(got));
    return text;
  }

 private:
  int before_;
  int file_;
};

std::string Trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin);
}

/// Parses the runtime's help: a name, below it the meaning, below that the accepted values and the default.
std::vector<SettingFact> ParseSettings(const std::string& list) {
  constexpr std::string_view kAccepted = "accepted: ";
  constexpr std::string_view kDefault = "; default: ";
  std::vector<SettingFact> settings;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    const std::string text = Trimmed(line);
    if (text.starts_with("SAMPAN_")) {
      settings.push_back({.name = text});
    } else if (!settings.empty() && text.starts_with(kAccepted)) {
      const auto preset = text.rfind(kDefault);
      if (preset == std::string::npos) continue;
      settings.back().accepted = text.substr(kAccepted.size(), preset - kAccepted.size());
      settings.back().value = text.substr(preset + kDefault.size());
      settings.back().source = "default";
    } else if (!settings.empty() && settings.back().meaning.empty()) {
      settings.back().meaning = text;
    }
  }
  return settings;
}

/// Replaces defaults by the values of the environment and the options.
void ApplySources(std::vector<SettingFact>& settings, const Environment& before, const Arguments& arguments) {
  const std::vector<Variable> options = RuntimeVariables(arguments);
  for (SettingFact& setting : settings) {
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const Variable& each) { return each.name == setting.name; });
    const auto variable = before.find(setting.name);
    if (option != options.end()) {
      setting.value = option->value;
      setting.source = "command line";
    } else if (variable != before.end()) {
      setting.value = variable->second;
      setting.source = "environment";
    }
  }
}

std::vector<SettingFact> AscendSettings(const Environment& before) {
  std::vector<SettingFact> found;
  for (const char* name : {"ASCEND_RT_VISIBLE_DEVICES", "ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_MODULE_LOG_LEVEL",
                           "ASCEND_LOG_PRINT_TO_STDOUT", "ASCEND_SLOG_PRINT_TO_STDOUT",
                           "ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH", "ASCEND_HOST_LOG_FILE_NUM"}) {
    if (const auto variable = before.find(name); variable != before.end())
      found.push_back({.name = name, .value = variable->second, .source = "environment"});
  }
  return found;
}

std::string LibraryFile() {
  Dl_info info{};
  const bool found =
      ::dladdr(reinterpret_cast<void*>(&::aclrtMemcpy), &info) != 0 && info.dli_fname != nullptr;
  std::error_code error;
  const auto path = std::filesystem::canonical(found ? info.dli_fname : "", error);
  return error ? "" : path.string();
}

std::string CannVersion() {
  std::array<char, ACL_PKG_VERSION_MAX_SIZE> text{};
  std::string package = "runtime";
  return ::aclsysGetVersionStr(package.data(), text.data()) == ACL_SUCCESS ? text.data() : "";
}

std::vector<DeviceFact> Devices(const bench::Session& session) {
  std::vector<DeviceFact> devices;
  for (std::uint32_t id = 0; id < session.devices(); ++id) {
    DeviceFact device{.id = id};
    bench::Require(::aclrtSetDevice(static_cast<std::int32_t>(id)), "aclrtSetDevice");
    bench::Require(::aclrtGetMemInfo(ACL_HBM_MEM, &device.free_bytes, &device.total_bytes),
                   "aclrtGetMemInfo");
    devices.push_back(device);
    if (id > 1) ::aclrtResetDevice(static_cast<std::int32_t>(id));
  }
  bench::Require(::aclrtSetDevice(0), "aclrtSetDevice(0)");
  return devices;
}

}  // namespace

const std::string& RuntimeFacts::Value(std::string_view name) const {
  static const std::string unknown = "unknown";
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const SettingFact& setting) { return setting.name == name; });
  return found == settings.end() ? unknown : found->value;
}

std::unique_ptr<bench::Session> StartRuntime(const Arguments& arguments, RuntimeFacts& facts) {
  const Environment before = ApplySettings(arguments);
  ::setenv("SAMPAN_HELP", "1", 1);  // the runtime lists its settings when it starts
  ErrorCapture capture;
  auto session = std::make_unique<bench::Session>();
  facts.settings = ParseSettings(capture.Stop());
  ApplySources(facts.settings, before, arguments);
  facts.ascend_settings = AscendSettings(before);
  facts.library = LibraryFile();
  facts.interface_version = std::to_string(ACL_MAJOR_VERSION) + "." + std::to_string(ACL_MINOR_VERSION) +
                            "." + std::to_string(ACL_PATCH_VERSION);
  facts.cann_version = CannVersion();
  const char* soc = ::aclrtGetSocName();
  facts.soc = soc == nullptr ? "" : soc;
  facts.devices = Devices(*session);
  return session;
}

}  // namespace sampan::tool
