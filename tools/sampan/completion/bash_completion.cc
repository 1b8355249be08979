// Completion for bash.
#include <algorithm>

#include "tools/sampan/completion/completion.h"
#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {

std::string Joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words)
    text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

namespace {

bool TakesFile(const CommandDescription& command) {
  return std::any_of(command.operands.begin(), command.operands.end(),
                     [](const OperandDescription& operand) { return operand.is_file; });
}

/// The words that are valid where no option's value is expected.
std::vector<std::string_view> WordsOf(const CommandDescription& command) {
  std::vector<std::string_view> words;
  for (const OperandDescription& operand : command.operands)
    words.insert(words.end(), operand.choices.begin(), operand.choices.end());
  for (const OptionDescription& option : command.options)
    words.push_back(option.name);
  words.push_back("--help");
  return words;
}

/// The branches of a shell `case` with the values of one command's options.
std::string ValueCases(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options) {
    if (!option.takes_value()) continue;
    const std::string name(command.name);
    text += "    ";
    if (!option.letter.empty()) text += "'" + name + " " + std::string(option.letter) + "' | ";
    text += "'" + name + " " + std::string(option.name) + "') ";
    if (option.takes_file())
      text += "COMPREPLY=($(compgen -f -- \"$word\")); ";
    else if (!option.choices.empty())
      text += "COMPREPLY=($(compgen -W '" + Joined(option.choices) + "' -- \"$word\")); ";
    text += "return ;;\n";
  }
  return text;
}

constexpr std::string_view kProgramCase = R"(
  # A program and its arguments: completed as they would be without us.
  case " $programs " in
    *" $command "*)
      for ((at = 2; at < COMP_CWORD; ++at)); do
        if [[ ${COMP_WORDS[at]} == -- ]]; then
          if declare -F _command_offset >/dev/null; then
            _command_offset $((at + 1))
          elif ((at + 1 == COMP_CWORD)); then
            COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
          else
            COMPREPLY=($(compgen -f -- "$word"))
          fi
          return
        fi
      done
      if [[ $word != -* ]]; then
        COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
        return
      fi
      ;;
  esac
)";

}  // namespace

bool RunsProgram(const CommandDescription& command) {
  return std::any_of(command.operands.begin(), command.operands.end(),
                     [](const OperandDescription& operand) { return operand.is_program; });
}

std::string BashCompletion() {
  std::vector<std::string_view> names;
  std::string words;
  std::string values;
  std::string programs;
  std::string readers;
  for (const Command* command : AllCommands()) {
    const CommandDescription& description = command->description;
    names.push_back(description.name);
    words += "    " + std::string(description.name) + ") words='" + Joined(WordsOf(description)) + "' ;;\n";
    values += ValueCases(description);
    if (RunsProgram(description)) programs += (programs.empty() ? "" : " ") + std::string(description.name);
    if (TakesFile(description)) readers += (readers.empty() ? "" : " | ") + std::string(description.name);
  }
  const std::string commands = Joined(names);
  return "# Completion of the sampan command for bash.\n"
         "_sampan() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} "
         "command=${COMP_WORDS[1]-}\n"
         "  local programs='" +
         programs +
         "' words= at\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" +
         commands +
         " help --help --version' -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case $command in\n" +
         words + "    help) words='" + commands +
         "' ;;\n"
         "  esac\n"
         "  case \"$command $before\" in\n" +
         values + "  esac" + std::string(kProgramCase) +
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  case $command in " +
         readers +
         ") [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- \"$word\")) ;; esac\n"
         "}\n"
         "complete -F _sampan sampan\n";
}

}  // namespace sampan::tool
