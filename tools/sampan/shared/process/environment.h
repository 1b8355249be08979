// The environment in which programs find this installation, with the settings of the command line.
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

/// What has to be set: the variables of set_env.sh, then those of the options. Lists get our folder in front.
std::vector<Variable> ChangesFor(const Installation& installation, const Arguments& arguments,
                                 const Environment& current);

/// Sets them in this process, which is going to use the runtime itself. Refusals of the runtime's are results
/// then, not log lines, unless the user wants both. Returns the environment as it was.
Environment ApplySettings(const Arguments& arguments);

/// Makes the runtime start, in a process of its own, with the options' settings. Throws what it has against
/// them. Does nothing when there are none.
void CheckSettings(const Arguments& arguments, const Environment& environment);

}  // namespace sampan::tool
