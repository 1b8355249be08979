// The calls of the C library that the checker takes part in: those that let the system access memory, that
// free memory, and that change how signals are handled.
#pragma once

#include <signal.h>

namespace sampan::check {

/// Redirects the program's calls. Call it again when files may have been loaded.
void WatchSystemCalls() noexcept;

/// The C library's own, whatever the program's calls are redirected to.
int SystemSigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept;

}  // namespace sampan::check
