// The environment for programs: this installation, and the settings of the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/command_line/runtime_options.h"
#include "tools/sampan/shared/process/installation.h"

namespace sampan::tool {

using Environment = std::map<std::string, std::string, std::less<>>;

Environment CurrentEnvironment();

/// The variables to set: those of set_env.sh, then those of the options. Lists get our folder first.
std::vector<Variable> ChangesFor(const Installation& installation, const Arguments& arguments,
                                 const Environment& current);

/// Sets the variables in this process, which uses the runtime itself. Turns off the runtime's log, because
/// the command reports its errors, unless the user sets it. Returns the previous environment.
Environment ApplySettings(const Arguments& arguments);

/// Starts the runtime in a child process with the options' settings. Throws a Failure if it refuses them.
/// Does nothing without options.
void CheckSettings(const Arguments& arguments, const Environment& environment);

}  // namespace sampan::tool
