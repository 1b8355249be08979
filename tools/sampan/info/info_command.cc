// sampan info: the installation, its settings, and a self-test.
#include "tools/sampan/info/binary_needs.h"
#include "tools/sampan/info/info_report.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/command_line/runtime_options.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/process/environment.h"

namespace sampan::tool {
namespace {

/// Says what a program needs, without starting the runtime.
int ExamineBinary(const std::filesystem::path& path, bool as_json) {
  const Environment environment = CurrentEnvironment();
  const auto library_path = environment.find("LD_LIBRARY_PATH");
  const BinaryNeeds needs = ReadBinaryNeeds(
      path, library_path == environment.end() ? "" : library_path->second, FindInstallation().libraries());
  Print(as_json ? BinaryJson(path, needs) : BinaryText(path, needs));
  return needs.complete() ? kSuccess : kCheckFailed;
}

int Execute(const Arguments& arguments) {
  const bool as_json = arguments.Has("--json");
  if (arguments.Has("--binary")) return ExamineBinary(arguments.ValueOr("--binary", ""), as_json);
  RuntimeFacts facts;
  std::unique_ptr<bench::Session> session;
  try {
    session = StartRuntime(arguments, facts);
  } catch (const bench::Failure& failure) {
    if (as_json) Print(InfoFailureJson(failure.what()));
    throw Failure(kCheckFailed, failure.what());
  }
  const SelfTest test = RunSelfTest(*session);
  const FabricFacts fabric = ReadFabricFacts();
  Print(as_json ? InfoJson(facts, fabric, test) : InfoText(facts, fabric, test));
  return test.passed() ? kSuccess : kCheckFailed;
}

}  // namespace

const Command& InfoCommand() {
  static const Command command{
      .description =
          {.name = "info",
           .summary = "show devices and settings, and test whether copies work here",
           .paragraphs =
               {"Shows backend, profile, devices, versions, what reaches other hosts, and every setting with "
                "its "
                "source. Then copies once on "
                "every path, with random contents, and compares each byte and those "
                "around it. The last line is "
                "the verdict. It takes less than two seconds.",
                "With --binary it says which functions of AscendCL and HCCL a program needs, with the "
                "libraries "
                "that it loads: which work, which are exported and refuse, which are absent. Nothing is "
                "started."},
           .options = WithRuntimeOptions({{.name = "--json", .value = "", .meaning = "the same as JSON"},
                                          {.name = "--binary",
                                           .value = "FILE",
                                           .meaning = "say which functions this program or library needs"}}),
           .examples = {{"sampan info", "does it work here?"},
                        {"sampan info --profile cann9", "with the rules of another release"},
                        {"sampan info --json | jq .passed", "for scripts"},
                        {"sampan info --binary ./server", "will it run here?"}},
           .exits = {{"0", "all copies were verified; every function that the binary needs works"},
                     {"1", "a copy failed, or the runtime did not start; a function is refused or absent"},
                     {"127", "there is no such binary"},
                     {"2", "the arguments could not be understood"},
                     {"3", "could not be written"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
