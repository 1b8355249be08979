// Versions of the interface and of installed packages.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/guard.h"
#include "base/system/environment.h"

namespace sampan::acl {
namespace {

Error NotFound(std::string message) {
  return {Code::kInvalidFile, std::move(message)};
}

Error Malformed(const std::string& package, const std::string& version) {
  return {Code::kInternalAcl, Text("the version '", version, "' of package '", package, "' is malformed")};
}

/// The value of the line `key=value` in a file.
std::optional<std::string> ReadKey(std::istream& file, std::string_view key) {
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') continue;
    std::string value = line.substr(key.size() + 1);
    std::erase_if(value,
                  [](char character) { return character == '\r' || character == ' ' || character == '"'; });
    return value;
  }
  return std::nullopt;
}

/// The name with '-' and '_' exchanged.
std::string OtherName(std::string package) {
  const char dash = package.find('-') != std::string::npos ? '_' : '-';
  std::replace_if(
      package.begin(), package.end(), [](char c) { return c == '-' || c == '_'; }, dash);
  return package;
}

/// The files that may contain a package's version. Driver and firmware have folders of their own.
Result<std::vector<std::string>> VersionFiles(const std::string& package) {
  if (package == "driver" || package == "firmware") {
    constexpr const char* kInstallations = "/etc/ascend_install.info";
    const std::string key = package == "driver" ? "Driver_Install_Path_Param" : "Firmware_Install_Path_Param";
    std::ifstream installations(kInstallations);
    const auto root = ReadKey(installations, key);
    if (!root) return NotFound(Text("no ", package, " is installed: ", kInstallations, " has no ", key, "="));
    return std::vector{Text(*root, "/", package, "/version.info")};
  }
  const auto home = EnvironmentValue("ASCEND_HOME_PATH");
  if (!home) return NotFound(Text("package '", package, "': ASCEND_HOME_PATH is not set"));
  std::vector<std::string> files;
  for (const std::string& name : {package, OtherName(package)})
    files.push_back(Text(*home, "/share/info/", name, "/version.info"));
  return files;
}

Result<std::string> FindVersion(const std::string& package) {
  auto files = VersionFiles(package);
  if (!files.ok()) return files.TakeStatus();
  for (const std::string& path : *files) {
    std::ifstream file(path);
    if (!file) continue;
    auto version = ReadKey(file, "Version");
    if (!version) return NotFound(Text("package '", package, "': ", path, " has no line Version="));
    if (version->empty() || version->size() >= ACL_PKG_VERSION_MAX_SIZE) return Malformed(package, *version);
    return *version;
  }
  return NotFound(Text("package '", package, "': there is no ", files->front()));
}

/// major.minor[.patch][pre-release], such as 8.5.0, 8.5.0-beta.2, 8.5.0.alpha001, 8.2.RC1.
struct VersionParts {
  std::string major, minor, patch, stage, stage_number;
};

/// Removes and returns the leading characters for which `belongs` is true.
template <typename Belongs>
std::string TakeWhile(std::string_view& text, Belongs belongs) {
  const auto end = std::find_if_not(text.begin(), text.end(), belongs);
  std::string taken(text.begin(), end);
  text.remove_prefix(taken.size());
  return taken;
}

std::string TakeDigits(std::string_view& text) {
  return TakeWhile(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool TakeSeparator(std::string_view& text) {
  const bool found = text.starts_with('.') || text.starts_with('-');
  if (found) text.remove_prefix(1);
  return found;
}

char LowerCase(char letter) {
  return static_cast<char>(letter | 0x20);
}

/// How far a pre-release is below its release. Nothing if the word is no stage.
std::optional<std::int64_t> StageOffset(std::string stage) {
  std::transform(stage.begin(), stage.end(), stage.begin(), LowerCase);
  if (stage.empty()) return 0;
  if (stage == "alpha") return -300;
  if (stage == "beta") return -200;
  if (stage == "rc") return -100;
  return std::nullopt;
}

Result<VersionParts> SplitVersion(const std::string& package, const std::string& version) {
  std::string_view rest = version;
  VersionParts parts;
  parts.major = TakeDigits(rest);
  if (TakeSeparator(rest)) parts.minor = TakeDigits(rest);
  bool separated = TakeSeparator(rest);
  if (separated) parts.patch = TakeDigits(rest);
  if (!parts.patch.empty()) separated = TakeSeparator(rest);
  parts.stage = TakeWhile(rest, [](char c) { return LowerCase(c) >= 'a' && LowerCase(c) <= 'z'; });
  if (!parts.stage.empty()) {
    separated = TakeSeparator(rest);
    parts.stage_number = TakeDigits(rest);
  }
  const bool ends_in_separator = separated && parts.stage_number.empty();
  if (parts.minor.empty() || parts.major.empty() || !StageOffset(parts.stage) || ends_in_separator ||
      !rest.empty()) {
    return Malformed(package, version);
  }
  return parts;
}

/// No digits give 0. Too many digits give a number that is refused later.
std::int64_t NumberOf(std::string_view digits) {
  constexpr std::int64_t kTooMany = std::numeric_limits<std::int32_t>::max();
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc::result_out_of_range ? kTooMany : number;
}

/// Returns nothing if the number does not fit.
std::optional<std::int32_t> NumberOf(const VersionParts& parts) {
  const std::int64_t number = NumberOf(parts.major) * 10'000'000 + NumberOf(parts.minor) * 100'000 +
                              NumberOf(parts.patch) * 1000 + *StageOffset(parts.stage) +
                              NumberOf(parts.stage_number);
  if (number > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(number);
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return Guard("aclrtGetVersion", [&]() -> Status {
    if (Status present = RequireNonNull("majorVersion", majorVersion, "minorVersion", minorVersion,
                                        "patchVersion", patchVersion);
        !present.ok()) {
      return present;
    }
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return {};
  });
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  return Guard("aclsysGetVersionStr", [&]() -> Status {
    if (Status present = RequireNonNull("pkgName", pkgName, "versionStr", versionStr); !present.ok())
      return present;
    auto version = FindVersion(pkgName);
    if (!version.ok()) return version.TakeStatus();
    std::memcpy(versionStr, version->c_str(), version->size() + 1);
    return {};
  });
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum) {
  return Guard("aclsysGetVersionNum", [&]() -> Status {
    if (Status present = RequireNonNull("pkgName", pkgName, "versionNum", versionNum); !present.ok())
      return present;
    auto version = FindVersion(pkgName);
    if (!version.ok()) return version.TakeStatus();
    auto parts = SplitVersion(pkgName, *version);
    if (!parts.ok()) return parts.TakeStatus();
    const auto number = NumberOf(*parts);
    if (!number) return Malformed(pkgName, *version);
    *versionNum = *number;
    return {};
  });
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  return Guard("aclsysGetCANNVersion", [&]() -> Status {
    constexpr std::array<const char*, 8> kPackages = {"cann",    "runtime", "compiler",   "hccl",
                                                      "toolkit", "opp",     "opp_kernel", "driver"};
    if (Status present = RequireNonNull("version", version); !present.ok()) return present;
    const auto index = static_cast<std::size_t>(name);
    if (index >= kPackages.size()) return InvalidArgument(Text("name is ", index, ", it must be 0 to 7"));
    auto text = FindVersion(kPackages[index]);
    if (!text.ok()) return text.TakeStatus();
    auto parts = SplitVersion(kPackages[index], *text);
    if (!parts.ok()) return parts.TakeStatus();
    *version = {};
    const auto put = [](char* to, std::size_t room, const std::string& from) {
      std::memcpy(to, from.c_str(), std::min(from.size(), room - 1));
    };
    put(version->version, sizeof(version->version), *text);
    put(version->majorVersion, sizeof(version->majorVersion), parts->major);
    put(version->minorVersion, sizeof(version->minorVersion), parts->minor);
    put(version->releaseVersion, sizeof(version->releaseVersion), parts->patch);
    put(version->patchVersion, sizeof(version->patchVersion), parts->stage + parts->stage_number);
    return {};
  });
}
