// Ends a process whose main thread has left by pthread_exit, once none of the program's own threads is left.
#pragma once

namespace sampan::process {

/// To be called when threads of the runtime may have been started. The system ends a process with its last
/// thread; those of the runtime never end, so after the main thread a thread of ours looks for the program's
/// last one, and calls exit(0) as the system would. Throws ThreadStartError.
void WatchForLastThread();

}  // namespace sampan::process
