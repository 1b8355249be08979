// sampan run: runs an unmodified program on Sampan.
#include "tools/sampan/run/library_watch.h"
#include "tools/sampan/run/program_file.h"
#include "tools/sampan/run/trace_end.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/process/child_process.h"
#include "tools/sampan/shared/process/environment.h"
#include "tools/sampan/shared/trace/trace_place.h"

namespace sampan::tool {
namespace {

/// Puts our libraries first, for references that the search path leads elsewhere.
void Preload(const Installation& installation, Environment& environment) {
  std::string list;
  for (const std::filesystem::path& library : installation.acl_libraries())
    list += (list.empty() ? "" : ":") + library.string();
  if (list.find(' ') != std::string::npos) {
    throw Failure(kRunFailed, "this program needs LD_PRELOAD, which cannot name " +
                                  installation.libraries().string() +
                                  " because of its blanks; install Sampan elsewhere");
  }
  std::string& preload = environment["LD_PRELOAD"];
  preload = preload.empty() ? list : list + ":" + preload;
}

/// Why the program cannot have used Sampan, from its file.
std::string Reason(const ProgramFile& program) {
  if (program.kind == ProgramFile::Kind::kStatic) return "it is linked statically and loads no libraries";
  if (program.is_privileged)
    return "it has rights of its own (setuid, setgid or capabilities), for which the loader ignores search "
           "paths";
  return "neither libascendcl.so nor libacl_rt.so of Sampan was loaded; if plug-ins of it lead to the "
         "vendor's "
         "library, try --preload";
}

int Execute(const Arguments& arguments) {
  const Installation installation = FindInstallation();
  Environment environment = CurrentEnvironment();
  for (Variable& change : ChangesFor(installation, arguments, environment))
    environment[change.name] = std::move(change.value);
  const ProgramFile program = FindProgram(arguments.program.front(), environment);
  CheckSettings(arguments, environment);
  if (arguments.Has("--trace")) MakeRoomForTrace(environment["SAMPAN_TRACE"]);
  const AclReferences references = FindAclReferences(program, installation, environment);
  const bool preloads = references.elsewhere || arguments.Has("--preload");
  if (preloads) Preload(installation, environment);

  const LibraryWatch watch(installation.acl_libraries());
  const Ending ending = RunProgram(program.path, arguments.program, environment);
  if (arguments.Has("--trace") && ending.signal != 0) CompleteTrace(environment["SAMPAN_TRACE"]);
  // A preloaded library is always loaded, so the watch tells nothing.
  if (!references.any && !preloads && !watch.MayHaveBeenOpened())
    Note(arguments.program.front() + " did not use AscendCL: " + Reason(program));
  return EndLike(ending);
}

}  // namespace

const Command& RunCommand() {
  static const Command command{
      .description =
          {.name = "run",
           .summary = "run an unmodified program on Sampan",
           .paragraphs =
               {"Runs a program that was built for AscendCL, whether it was linked with Sampan's "
                "library or with "
                "the vendor's. Sampan's libraries come first in the search path; where a program "
                "has a search path "
                "of its own that leads elsewhere, they are preloaded.",
                "Signals reach the program and its ending becomes that of 'sampan run'. A program "
                "that has not used AscendCL at all when it ends is named on standard error (unless "
                "another program starts on the same installation during the run: then sampan cannot tell).",
                "With --trace every process that uses AscendCL writes a file: the first one the "
                "file that was named, others the same name with their number in it.",
                "Further settings are environment variables; SAMPAN_HELP=1 lists them."},
           .operands = {{.name = "PROGRAM [ARGS...]",
                         .meaning = "the program and what it is to get; everything behind -- belongs to it",
                         .is_program = true}},
           .options = WithProgramOptions(
               {{.name = "--preload",
                 .value = "",
                 .meaning = "load Sampan before anything else, for programs whose plug-ins have search paths "
                            "of their own that lead to the vendor's library"}}),
           .examples = {{"sampan run -- ./app --verbose", "with the settings of the environment"},
                        {"sampan run --devices 2 --profile ascend910c,cann9 -- python3 test.py",
                         "two devices of another chip and release"},
                        {"sampan run --trace app.json.gz --summary -- ./app",
                         "a timeline for Perfetto or 'sampan report', and a table of all copies at the end"},
                        {"sampan run --schedule seed:7 -- ./app",
                         "an unusual order of work that can be repeated: finds missing synchronisation"}},
           .exits = {{"N", "what the program exited with; a signal that ended it ends 'sampan run' too"},
                     {"125", "sampan itself failed: bad arguments, settings that the runtime refuses"},
                     {"126", "the program cannot be executed"},
                     {"127", "there is no such program"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
