// Runs a program in our place: its ending becomes ours, and signals that we get reach it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/sampan/shared/process/environment.h"

namespace sampan::tool {

struct Ending {
  int exit_status = 0;
  int signal = 0;  ///< what ended it; 0: it exited
};

/// Waits for the program. Until it exits, signals sent to this process go to the program, and when it is
/// stopped so are we. `words` begin with the program's name. Throws a Failure when the program cannot be
/// started.
Ending RunProgram(const std::filesystem::path& file, const std::vector<std::string>& words,
                  const Environment& environment);

/// Ends as the program did: by the same signal, without a second core file, or with its status as the answer.
int EndLike(const Ending& ending);

}  // namespace sampan::tool
