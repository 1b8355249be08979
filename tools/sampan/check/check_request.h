// What the command line asks of a check.
#pragma once

#include <string>
#include <vector>

#include "tools/sampan/check/check_results.h"
#include "tools/sampan/shared/command_line/command.h"

namespace sampan::tool {

struct CheckRequest {
  CheckFilter filter;
  int error_status = 0;                ///< exit status for findings of severity error
  std::vector<std::string> schedules;  ///< one run under each; empty: one run under the schedule that is set
};

/// Throws a Failure that names the option if a value is wrong.
CheckRequest ReadCheckRequest(const Arguments& arguments);

/// The command line that repeats the run under that schedule, for a shell.
std::string RepeatCommand(const Arguments& arguments, const std::string& schedule);

}  // namespace sampan::tool
