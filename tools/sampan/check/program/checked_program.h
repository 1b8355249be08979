// Runs a program under the checker and tells what is found while it runs.
#pragma once

#include "tools/sampan/check/check_request.h"
#include "tools/sampan/check/finding/finding.h"
#include "tools/sampan/check/program/source_frames.h"
#include "tools/sampan/run/program_start.h"

namespace sampan::tool {

/// One run and its end.
struct CheckedEnding {
  CheckedRun run;
  Ending ending;
  bool was_ended = false;  ///< by a finding, after which the program could not go on
};

/// Runs the program once. Prints each wanted finding on standard error as soon as it is made.
CheckedEnding RunChecked(ProgramStart& program, const Arguments& arguments, const CheckFilter& filter,
                         SourceFrames& frames);

/// The same for what a program has written before, with --read. Its ending is not known.
CheckedEnding ReadChecked(const Arguments& arguments, const CheckFilter& filter, SourceFrames& frames);

}  // namespace sampan::tool
