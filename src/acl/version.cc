// Versions of the interface and of installed packages.
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "acl/acl_rt.h"
#include "acl/guard.h"
#include "base/environment.h"

namespace sampan::acl {
namespace {

/// The value of `key=` in a file of such lines.
std::optional<std::string> ReadKey(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') continue;
    std::string value = line.substr(key.size() + 1);
    std::erase_if(value,
                  [](char character) { return character == '\r' || character == ' ' || character == '"'; });
    return value;
  }
  return std::nullopt;
}

/// The driver and the firmware are installed apart from the toolkit.
std::optional<std::string> ReadInstalledVersion(const std::string& package) {
  if (package == "driver" || package == "firmware") {
    const std::string key = package == "driver" ? "Driver_Install_Path_Param" : "Firmware_Install_Path_Param";
    const auto root = ReadKey("/etc/ascend_install.info", key);
    return root ? ReadKey(Text(*root, "/", package, "/version.info"), "Version") : std::nullopt;
  }
  const auto home = EnvironmentValue("ASCEND_HOME_PATH");
  if (!home) return std::nullopt;
  std::string other = package;
  std::replace_if(
      other.begin(), other.end(), [](char c) { return c == '-' || c == '_'; },
      package.find('-') != std::string::npos ? '_' : '-');
  for (const std::string& name : {package, other}) {
    if (auto version = ReadKey(Text(*home, "/share/info/", name, "/version.info"), "Version")) return version;
  }
  return std::nullopt;
}

Result<std::string> FindVersion(const std::string& package) {
  auto version = ReadInstalledVersion(package);
  if (!version) {
    return Error{Code::kInvalidFile,
                 Text("no version.info of package '", package, "' under ASCEND_HOME_PATH")};
  }
  if (version->empty() || version->size() >= ACL_PKG_VERSION_MAX_SIZE) {
    return Error{Code::kInternalAcl,
                 Text("the version '", *version, "' of package '", package, "' is malformed")};
  }
  return *version;
}

/// major.minor[.patch][pre-release], such as 8.5.0, 8.5.0.alpha001, 8.2.RC1.
struct VersionParts {
  std::string major, minor, patch, stage, stage_number;
};

/// Takes what the beginning of the text has of such characters.
template <typename Belongs>
std::string TakeWhile(std::string_view& text, Belongs belongs) {
  const auto end = std::find_if_not(text.begin(), text.end(), belongs);
  std::string taken(text.begin(), end);
  text.remove_prefix(taken.size());
  return taken;
}

std::string TakeDigits(std::string_view& text) {
  constexpr std::size_t kMostDigits = 4;
  std::string digits = TakeWhile(text, [](char c) { return c >= '0' && c <= '9'; });
  return digits.size() <= kMostDigits ? digits : std::string();
}

bool TakeSeparator(std::string_view& text) {
  const bool found = !text.empty() && (text.front() == '.' || text.front() == '-');
  if (found) text.remove_prefix(1);
  return found;
}

Result<VersionParts> SplitVersion(const std::string& version) {
  std::string_view rest = version;
  VersionParts parts;
  parts.major = TakeDigits(rest);
  if (TakeSeparator(rest)) parts.minor = TakeDigits(rest);
  if (parts.major.empty() || parts.minor.empty()) {
    return Error{Code::kInternalAcl, Text("the version '", version, "' is malformed")};
  }
  if (TakeSeparator(rest)) parts.patch = TakeDigits(rest);
  TakeSeparator(rest);
  parts.stage = TakeWhile(rest, [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; });
  TakeSeparator(rest);
  parts.stage_number = TakeDigits(rest);
  return parts;
}

int NumberOf(const std::string& digits) {
  return digits.empty() ? 0 : std::stoi(digits);
}

int StageOffset(const std::string& stage) {
  if (stage.empty()) return 0;
  switch (stage.front() | 0x20) {
    case 'a':
      return -300;
    case 'b':
      return -200;
    default:
      return -100;
  }
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
    auto parts = SplitVersion(*version);
    if (!parts.ok()) return parts.TakeStatus();
    *versionNum = NumberOf(parts->major) * 10'000'000 + NumberOf(parts->minor) * 100'000 +
                  NumberOf(parts->patch) * 1000 + StageOffset(parts->stage) + NumberOf(parts->stage_number);
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
    auto parts = SplitVersion(*text);
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
