// Ctrl-C stops a measurement early. Results so far are still shown.
#pragma once

namespace sampan::tool {

/// From now on SIGINT and SIGTERM are recorded. A second one kills the process.
void WatchForInterrupt();

/// The recorded signal; 0 for none.
int Interrupted();

/// Exits the command by the signal, after all destructors have run.
struct Interruption {
  int signal;
};

/// Throws an Interruption if a signal was recorded.
void StopIfInterrupted();

}  // namespace sampan::tool
