// sampan run: runs an unmodified program on Sampan.
#include "tools/sampan/run/kept_summaries.h"
#include "tools/sampan/run/program_start.h"
#include "tools/sampan/run/trace_end.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/trace/trace_place.h"

namespace sampan::tool {
namespace {

Ending RunWithSummary(ProgramStart& program) {
  const KeptSummaries summaries(program.environment());
  const Ending ending = program.Run();
  summaries.Tell();
  return ending;
}

int Execute(const Arguments& arguments) {
  ProgramStart program(arguments);
  const std::string trace = arguments.Has("--trace") ? program.environment()["SAMPAN_TRACE"] : "";
  if (!trace.empty()) MakeRoomForTrace(trace);
  const Ending ending = RunWithSummary(program);
  if (!trace.empty() && ending.signal != 0) CompleteTrace(trace);
  program.NoteIfUnused();
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
                "that has not used AscendCL at all when it ends is named on standard error. If another "
                "program starts on the same installation during the run, sampan cannot tell.",
                "With --summary every process that uses AscendCL prints a summary when it exits, also by "
                "_exit "
                "and before a signal ends it. If a process is killed, 'sampan run' prints what was known "
                "until then.",
                "With --trace every process that uses AscendCL writes a file: the first one the "
                "file that was named, others the same name with their number in it.",
                "Further settings are environment variables; SAMPAN_HELP=1 lists them."},
           .operands = {{.name = "PROGRAM [ARGS...]",
                         .meaning = "the program and what it is to get; everything behind -- belongs to it",
                         .is_program = true}},
           .options = WithProgramOptions({PreloadOption()}),
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
