// The options that choose how the runtime behaves, which it reads from environment variables.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {

/// Descriptions of these options, with the command's own behind them.
std::vector<OptionDescription> WithRuntimeOptions(std::vector<OptionDescription> own);
/// The same for a program of the user's: also what is to be recorded of it.
std::vector<OptionDescription> WithProgramOptions(std::vector<OptionDescription> own);

struct Variable {
  std::string name;
  std::string value;
};

/// The variables that the given options stand for.
std::vector<Variable> RuntimeVariables(const Arguments& arguments);

}  // namespace sampan::tool
