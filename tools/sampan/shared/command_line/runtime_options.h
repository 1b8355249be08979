// The options that set the runtime's environment variables.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {

/// Descriptions of these options, followed by the command's own.
std::vector<OptionDescription> WithRuntimeOptions(std::vector<OptionDescription> own);
/// The same for commands that run a program: also the options that record it.
std::vector<OptionDescription> WithProgramOptions(std::vector<OptionDescription> own);

struct Variable {
  std::string name;
  std::string value;
};

/// The variables that the given options stand for.
std::vector<Variable> RuntimeVariables(const Arguments& arguments);

}  // namespace sampan::tool
