// Facts about the runtime: settings and their sources, versions, devices.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/copies/session.h"
#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {

struct SettingFact {
  std::string name;
  std::string value;   ///< current value; the description of the default if it is not set
  std::string source;  ///< command line, environment or default
  std::string meaning;
  std::string accepted;
};

struct DeviceFact {
  std::uint32_t id = 0;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

struct RuntimeFacts {
  std::string library;  ///< the loaded file
  std::string interface_version;
  std::string cann_version;  ///< empty when no version file is installed
  std::string soc;
  std::vector<SettingFact> settings;         ///< the runtime's own
  std::vector<SettingFact> ascend_settings;  ///< CANN's, as far as they are set
  std::vector<DeviceFact> devices;

  /// The value of one setting.
  const std::string& Value(std::string_view name) const;
};

/// Starts the runtime with the options' settings and reads its facts. Throws a Failure if it does not start.
std::unique_ptr<bench::Session> StartRuntime(const Arguments& arguments, RuntimeFacts& facts);

}  // namespace sampan::tool
