// Parses the command line, with the commands' descriptions.
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

/// `words` are the words behind the program's name. Refuses an unknown word with a Failure that names it.
CommandLine ParseCommandLine(std::vector<std::string> words);

}  // namespace sampan::tool
