// Completion scripts for shells, made from the same descriptions as the help.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/sampan/shared/command_line/description.h"

namespace sampan::tool {

std::string BashCompletion();
std::string ZshCompletion();
std::string FishCompletion();

/// Whether a command runs a program, whose words are completed as they would be without us.
bool RunsProgram(const CommandDescription& command);

/// Words with a blank between them.
std::string Joined(const std::vector<std::string_view>& words);

}  // namespace sampan::tool
