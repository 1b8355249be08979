// The calls of the C library that the checker takes part in: those that let the system access memory, and
// those that free memory.
#pragma once

namespace sampan::check {

/// Redirects the program's calls, and those of signal_calls.h. Call it again when files may have been loaded.
void WatchSystemCalls() noexcept;

}  // namespace sampan::check
