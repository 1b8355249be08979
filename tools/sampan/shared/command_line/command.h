// A command of the tool: its description and its function.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sampan/shared/command_line/description.h"

namespace sampan::tool {

/// The arguments behind the command's name.
struct Arguments {
  std::map<std::string, std::string, std::less<>> options;  ///< by name; a switch that is on has value ""
  std::vector<std::string> operands;
  std::vector<std::string> program;  ///< a program to run, with its arguments

  bool Has(std::string_view option) const { return options.contains(option); }
  std::string ValueOr(std::string_view option, std::string_view otherwise) const {
    const auto found = options.find(option);
    return found == options.end() ? std::string(otherwise) : found->second;
  }
};

/// Returns the exit status, or throws a Failure.
struct Command {
  CommandDescription description;
  int (*execute)(const Arguments& arguments);
};

const Command& RunCommand();
const Command& CheckCommand();
const Command& EnvCommand();
const Command& InfoCommand();
const Command& HostsCommand();
const Command& BenchCommand();
const Command& ReportCommand();
const Command& ReplayCommand();
const Command& CompletionCommand();
const Command& ManCommand();

/// All commands, in the order of the help.
std::vector<const Command*> AllCommands();

}  // namespace sampan::tool
