// The signals by which the checker learns of the host's accesses, and the program's own handlers of them.
#pragma once

#include <signal.h>

namespace sampan::check {

/// Installs the handlers. Call it once, after other handlers of the runtime.
void WatchHostFaults() noexcept;
/// True if the host's accesses can be judged on this processor.
bool CanWatchHostFaults() noexcept;

/// The program sets its handler of one of our signals: it is called for faults that are not the checker's.
/// False for other signals.
bool ReplaceHandler(int signal, const struct sigaction* action, struct sigaction* before) noexcept;
/// Lets the calling thread take our signals, whatever the program has blocked before it was watched.
void OpenOurSignals() noexcept;
/// Takes our signals out of a set that the program wants to block.
void LeaveOurSignals(sigset_t& set) noexcept;

}  // namespace sampan::check
