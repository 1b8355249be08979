// Ctrl-C: measuring stops early, and what there is so far is still shown.
#pragma once

namespace sampan::tool {

/// From here on SIGINT and SIGTERM are remembered; a second one ends the process at once.
void WatchForInterrupt();

/// Which of them has come; 0 for none.
int Interrupted();

/// Ends the command as the signal would have, after everything on the way was cleaned up.
struct Interruption {
  int signal;
};

/// Throws an Interruption when one has come.
void StopIfInterrupted();

}  // namespace sampan::tool
