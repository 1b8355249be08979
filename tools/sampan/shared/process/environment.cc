// The environment for programs: this installation, and the settings of the command line.
#include "tools/sampan/shared/process/environment.h"

#include <acl/acl.h>
#include <unistd.h>

#include <cstdlib>

#include "bench/measure/acl_call.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/process/child_output.h"

namespace sampan::tool {
namespace {

/// Moves or adds an entry to the front of a colon-separated list.
std::string WithFirst(const std::string& entry, std::string_view list) {
  std::string result = entry;
  while (!list.empty()) {
    const std::string_view each = list.substr(0, list.find(':'));
    list.remove_prefix(std::min(list.size(), each.size() + 1));
    if (each != entry && !each.empty()) result += ":" + std::string(each);
  }
  return result;
}

}  // namespace

Environment CurrentEnvironment() {
  Environment variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::vector<Variable> ChangesFor(const Installation& installation, const Arguments& arguments,
                                 const Environment& current) {
  const std::string root = installation.root.string();
  std::vector<Variable> changes = {{"ASCEND_HOME_PATH", root},
                                   {"ASCEND_TOOLKIT_HOME", root},
                                   {"ASCEND_AICPU_PATH", root},
                                   {"ASCEND_OPP_PATH", root + "/opp"},
                                   {"TOOLCHAIN_HOME", root + "/toolkit"}};
  const auto prepend = [&](const char* name, const std::string& folder) {
    const auto found = current.find(name);
    changes.push_back({name, WithFirst(folder, found == current.end() ? "" : found->second)});
  };
  prepend("PATH", root + "/bin");
  prepend("LD_LIBRARY_PATH", installation.libraries().string());
  prepend("PYTHONPATH", root + "/python/site-packages");
  prepend("CMAKE_PREFIX_PATH", root + "/lib64/cmake");
  prepend("PKG_CONFIG_PATH", root + "/lib64/pkgconfig");
  for (Variable& variable : RuntimeVariables(arguments))
    changes.push_back(std::move(variable));
  return changes;
}

Environment ApplySettings(const Arguments& arguments) {
  Environment before = CurrentEnvironment();
  for (const Variable& change : ChangesFor(FindInstallation(), arguments, before))
    ::setenv(change.name.c_str(), change.value.c_str(), 1);
  ::setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 0);
  return before;
}

void CheckSettings(const Arguments& arguments, const Environment& environment) {
  if (RuntimeVariables(arguments).empty()) return;
  const ChildOutput check = OutputOfChild([&] {
    for (const auto& [name, value] : environment)
      ::setenv(name.c_str(), value.c_str(), 1);
    ::setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);  // the command reports errors itself
    for (const char* name : {"SAMPAN_HELP", "SAMPAN_TRACE", "SAMPAN_SUMMARY"})  // meant for the program only
      ::unsetenv(name);
    if (::aclInit(nullptr) == ACL_SUCCESS) return 0;
    const std::string message = bench::RecentMessage();
    return ::write(STDOUT_FILENO, message.data(), message.size()) < 0 ? 2 : 1;
  });
  if (check.status == 0) return;
  throw Failure(kRunFailed, check.text.empty() ? "the runtime dies of these settings"
                                               : "the runtime refuses these settings: " + check.text);
}

}  // namespace sampan::tool
