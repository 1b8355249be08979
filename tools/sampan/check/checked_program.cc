// Runs a program under the checker and tells what is found while it runs.
#include "tools/sampan/check/checked_program.h"

#include <cstring>
#include <iostream>

#include "check/findings_file.h"
#include "tools/sampan/check/findings_text.h"
#include "tools/sampan/check/raw_file.h"
#include "tools/sampan/check/raw_findings.h"
#include "tools/sampan/shared/output/terminal.h"

namespace sampan::tool {
namespace {

/// Says what the report cannot have because of how the program ended.
void NoteIncompleteEnd(const RawFindings& raw, const Ending& ending) {
  if (ending.signal != 0) {
    Note("the program was ended by signal " + std::to_string(ending.signal) + " (" +
         ::strsignal(ending.signal) + "); the report has what was found until then");
    return;
  }
  for (const std::string& process : raw.SilentEndings())
    Note(process + " ended by _exit or a signal; its leaks were not looked for");
}

}  // namespace

CheckedEnding RunChecked(ProgramStart& program, const Arguments& arguments, const CheckFilter& filter,
                         SourceFrames& frames) {
  RawFile file;
  program.environment()["SAMPAN_CHECK"] = "1";
  program.environment()[std::string(check::kFindingsVariable)] = file.path().string();
  RawFindings raw(frames);
  CheckResults results(filter,
                       [](const Finding& finding) { std::cerr << FindingText(finding) << std::flush; });
  const auto read = [&] {
    for (const std::string& line : file.TakeLines()) {
      if (std::optional<RawNews> news = raw.Understand(line)) results.Add(std::move(*news));
    }
  };
  const Ending ending = program.Run({.descriptor = file.changes(), .on_readable = read});
  read();
  NoteIncompleteEnd(raw, ending);
  if (results.suppressed() > 0)
    Note(std::to_string(results.suppressed()) + " findings were suppressed by " +
         arguments.ValueOr("--suppress", ""));
  return {.run = {.program = arguments.program, .findings = results.Take()},
          .ending = ending,
          .was_ended = raw.was_ended()};
}

}  // namespace sampan::tool
