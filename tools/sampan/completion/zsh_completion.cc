// Completion for zsh.
#include "tools/sampan/completion/completion.h"
#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {
namespace {

/// A text in single quotes of the shell, without the special characters of _arguments.
std::string Escaped(std::string_view text) {
  std::string quoted;
  for (const char character : text) {
    if (character == '\'')
      quoted += "'\\''";
    else if (character == '[' || character == ']' || character == ':' || character == '\\')
      quoted += std::string("\\") + character;
    else
      quoted += character;
  }
  return quoted;
}

std::string Choices(const std::vector<std::string_view>& choices) {
  std::string text = "(";
  for (const std::string_view choice : choices)
    text += (text.size() > 1 ? " " : "") + Escaped(choice);
  return text + ")";
}

/// The values of an option: files, a list of words, or anything.
std::string ValueOf(const OptionDescription& option) {
  if (!option.takes_value()) return "";
  return ":" + Escaped(option.value) + ":" +
         (option.takes_file()      ? "_files"
          : option.choices.empty() ? " "
                                   : Choices(option.choices));
}

std::string OptionSpecification(const OptionDescription& option) {
  const std::string rest = "[" + Escaped(option.meaning) + "]" + ValueOf(option);
  const std::string name(option.name);
  if (option.letter.empty()) return "'" + name + rest + "'";
  const std::string letter(option.letter);
  return "'(" + letter + " " + name + ")'{" + letter + "," + name + "}'" + rest + "'";
}

std::string OperandSpecification(const OperandDescription& operand) {
  if (operand.is_program) return "'*::program:_normal -p sampan'";
  const std::string action = operand.is_file           ? "_files"
                             : operand.choices.empty() ? " "
                                                       : Choices(operand.choices);
  return "'" +
         std::string(operand.is_repeated   ? "*:"
                     : operand.is_required ? ":"
                                           : "::") +
         Escaped(operand.name) + ":" + action + "'";
}

std::string Case(const CommandDescription& command) {
  std::string text = "    " + std::string(command.name) + ")\n";
  // The words behind -- are a command line of their own. Without --, options end at the program's name.
  if (RunsProgram(command)) {
    text +=
        "      local at=${words[(i)--]}\n"
        "      if (( at < CURRENT )); then\n"
        "        shift at words\n"
        "        (( CURRENT -= at ))\n"
        "        _normal -p sampan\n"
        "        return\n"
        "      fi\n";
  }
  text += std::string("      _arguments") + (RunsProgram(command) ? " -A '-*'" : "");
  for (const OptionDescription& option : command.options)
    text += " \\\n        " + OptionSpecification(option);
  text += " \\\n        '--help[show the help]'";
  for (const OperandDescription& operand : command.operands)
    text += " \\\n        " + OperandSpecification(operand);
  return text + " ;;\n";
}

}  // namespace

std::string ZshCompletion() {
  std::string names;
  std::string cases;
  for (const Command* command : AllCommands()) {
    const CommandDescription& description = command->description;
    names += "    '" + std::string(description.name) + ":" + Escaped(description.summary) + "'\n";
    cases += Case(description);
  }
  return "#compdef sampan\n"
         "# Completion of the sampan command for zsh.\n"
         "_sampan() {\n"
         "  local -a names\n"
         "  names=(\n" +
         names +
         "    'help:show the help of a command'\n"
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe -t commands 'command' names\n"
         "    _arguments '--help[show the help]' '--version[show the version]'\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases +
         "    help) _describe -t commands 'command' names ;;\n"
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _sampan ]]; then\n"
         "  _sampan \"$@\"\n"
         "else\n"
         "  compdef _sampan sampan\n"
         "fi\n";
}

}  // namespace sampan::tool
