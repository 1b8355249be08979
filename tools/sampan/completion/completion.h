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

/// Returns true if the command runs a program. The program's words are completed as usual.
bool RunsProgram(const CommandDescription& command);

/// Joins words with blanks.
std::string Joined(const std::vector<std::string_view>& words);

}  // namespace sampan::tool
