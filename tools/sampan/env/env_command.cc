// sampan env: the environment of `sampan run`, as exports for a shell.
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/process/environment.h"

namespace sampan::tool {
namespace {

/// The text as one word of a POSIX shell.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char character : text)
    quoted += character == '\'' ? "'\\''" : std::string(1, character);
  return quoted + "'";
}

int Execute(const Arguments& arguments) {
  const Installation installation = FindInstallation();
  Environment environment = CurrentEnvironment();
  const std::vector<Variable> changes = ChangesFor(installation, arguments, environment);
  for (const Variable& change : changes)
    environment[change.name] = change.value;
  CheckSettings(arguments, environment);
  std::string exports;
  for (const Variable& change : changes)
    exports += "export " + change.name + "=" + Quoted(change.value) + "\n";
  Print(exports);
  return 0;
}

}  // namespace

const Command& EnvCommand() {
  static const Command command{
      .description =
          {.name = "env",
           .summary = "print the environment of 'sampan run' for a shell",
           .paragraphs =
               {"Prints the variables that 'sampan run' sets, as exports for a POSIX shell. Programs "
                "started from that shell then find Sampan. Sourcing set_env.sh of the installation does "
                "the same without settings."},
           .options = WithProgramOptions({}),
           .examples = {{"eval \"$(sampan env)\"", "this shell's programs use Sampan"},
                        {"eval \"$(sampan env --devices 2)\"", "and see two devices"}},
           .exits = {{"0", "printed"},
                     {"2", "the arguments could not be understood"},
                     {"3", "could not be written"},
                     {"125", "the runtime refuses the settings"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
