// Runs a program: passes signals to it, and exits as it did.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/sampan/shared/process/environment.h"

namespace sampan::tool {

struct Ending {
  int exit_status = 0;
  int signal = 0;  ///< the signal that killed it; 0: it exited
};

/// What to do while a program runs.
struct ChildWatch {
  int descriptor = -1;  ///< -1: nothing
  /// Called when the descriptor can be read. Makes it unreadable again.
  std::function<void()> on_readable = {};
};

/// Runs the program and waits for it. Passes on signals until it exits, and stops when it is stopped. `words`
/// begin with the program's name. Throws a Failure if the program cannot be started.
Ending RunProgram(const std::filesystem::path& file, const std::vector<std::string>& words,
                  const Environment& environment, const ChildWatch& watch = {});

/// Exits as the program did: by the same signal, without a second core file. Otherwise returns its status.
int EndLike(const Ending& ending);

}  // namespace sampan::tool
