// Completion for fish.
#include "tools/sampan/completion/completion.h"
#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {
namespace {

/// A text in single quotes of the shell.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char character : text) {
    if (character == '\'' || character == '\\') quoted += '\\';
    quoted += character;
  }
  return quoted + "'";
}

std::string OptionLine(const std::string& condition, const OptionDescription& option) {
  std::string line = "complete -c sampan " + condition + " -l " + std::string(option.name.substr(2));
  if (!option.letter.empty()) line += " -s " + std::string(option.letter.substr(1));
  if (option.takes_file())
    line += " -r -F";
  else if (!option.choices.empty())
    line += " -x -a " + Quoted(Joined(option.choices));
  else if (option.takes_value())
    line += " -x";
  return line + " -d " + Quoted(option.meaning) + "\n";
}

std::string CommandLines(const CommandDescription& command) {
  const std::string condition = "-n '__fish_seen_subcommand_from " + std::string(command.name) + "'";
  std::string text = "complete -c sampan -n __fish_use_subcommand -a " + std::string(command.name) + " -d " +
                     Quoted(command.summary) + "\n";
  for (const OptionDescription& option : command.options)
    text += OptionLine(condition, option);
  text += "complete -c sampan " + condition + " -l help -d 'show the help'\n";
  for (const OperandDescription& operand : command.operands) {
    if (operand.is_program)
      text += "complete -c sampan " + condition + " -x -a '(__fish_complete_subcommand --fcs-skip=2)'\n";
    else if (operand.is_file)
      text += "complete -c sampan " + condition + " -F\n";
    else if (!operand.choices.empty())
      text += "complete -c sampan " + condition + " -a " + Quoted(Joined(operand.choices)) + "\n";
  }
  return text;
}

}  // namespace

std::string FishCompletion() {
  std::string text =
      "# Completion of the sampan command for fish.\n"
      "complete -c sampan -f\n"
      "complete -c sampan -n __fish_use_subcommand -l version -d 'show the version'\n"
      "complete -c sampan -n __fish_use_subcommand -l help -d 'show the help'\n"
      "complete -c sampan -n __fish_use_subcommand -a help -d 'show the help of a command'\n";
  std::string names;
  for (const Command* command : AllCommands()) {
    text += CommandLines(command->description);
    names += (names.empty() ? "" : " ") + std::string(command->description.name);
  }
  return text + "complete -c sampan -n '__fish_seen_subcommand_from help' -a " + Quoted(names) + "\n";
}

}  // namespace sampan::tool
