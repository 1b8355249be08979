// The sampan command: parses the command line, runs the command, and turns errors into messages and exit
// statuses.
#include <exception>
#include <iostream>
#include <new>

#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/command_line/command_line.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/command_line/help.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/process/child_process.h"
#include "tools/sampan/shared/process/interrupt.h"

namespace sampan::tool {

std::vector<const Command*> AllCommands() {
  return {&RunCommand(),   &CheckCommand(),  &EnvCommand(),    &InfoCommand(),       &HostsCommand(),
          &BenchCommand(), &ReportCommand(), &ReplayCommand(), &CompletionCommand(), &ManCommand()};
}

namespace {

int Execute(std::vector<std::string> words) {
  const CommandLine line = ParseCommandLine(std::move(words));
  if (line.wants_version) {
    Print("sampan " SAMPAN_VERSION "\n");
  } else if (line.wants_help) {
    Print(line.command != nullptr ? HelpOf(line.command->description) : Overview());
  } else if (line.command == nullptr) {
    std::cerr << Overview();
    return kBadUsage;
  } else {
    return line.command->execute(line.arguments);
  }
  return kSuccess;
}

}  // namespace
}  // namespace sampan::tool

int main(int argc, char** argv) {
  using namespace sampan::tool;
  try {
    return Execute(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const Failure& failure) {
    ErrorNote(failure.what());
    return failure.status();
  } catch (const Interruption& interruption) {
    return EndLike({.signal = interruption.signal});
  } catch (const std::bad_alloc&) {
    ErrorNote("there is not enough memory; ask for smaller sizes");
    return kCheckFailed;
  } catch (const std::exception& error) {
    ErrorNote(error.what());
    return kCheckFailed;
  }
}
