// Calls of the program that end the process without its exit handlers.
#pragma once

namespace sampan::process {

/// From now on _exit, _Exit and quick_exit, where loaded files call them, first end trace and summary.
void WatchExitCalls() noexcept;

}  // namespace sampan::process
