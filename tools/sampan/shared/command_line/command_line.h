// Parses the command line by the commands' descriptions.
#pragma once

#include <string>
#include <vector>

#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {

struct CommandLine {
  const Command* command = nullptr;  ///< nullptr: none was named
  bool wants_help = false;
  bool wants_version = false;
  Arguments arguments;
};

/// `words` are those behind the program's name. Refuses what no description knows, with a Failure that names
/// it.
CommandLine ParseCommandLine(std::vector<std::string> words);

}  // namespace sampan::tool
