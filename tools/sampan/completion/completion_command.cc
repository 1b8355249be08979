// sampan completion: a completion script for the shell, made from the same descriptions as the help.
#include "tools/sampan/completion/completion.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

int Execute(const Arguments& arguments) {
  const std::string& shell = arguments.operands.front();
  Print(shell == "zsh" ? ZshCompletion() : shell == "fish" ? FishCompletion() : BashCompletion());
  return 0;
}

}  // namespace

const Command& CompletionCommand() {
  static const Command command{
      .description =
          {.name = "completion",
           .summary = "print a completion script for the shell",
           .paragraphs = {"Prints a script that makes the shell complete commands, options and their "
                          "values. Installed packages bring it along."},
           .operands = {{.name = "SHELL",
                         .meaning = "which shell the script is for: bash, zsh or fish",
                         .choices = {"bash", "zsh", "fish"},
                         .is_required = true}},
           .examples = {{"eval \"$(sampan completion bash)\"", "for this shell"},
                        {"sampan completion zsh > ~/.zfunc/_sampan",
                         "for every zsh that has ~/.zfunc in its fpath"},
                        {"sampan completion fish > ~/.config/fish/completions/sampan.fish",
                         "for every fish"}},
           .exits = {{"0", "printed"}, {"2", "another shell"}, {"3", "could not be written"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
