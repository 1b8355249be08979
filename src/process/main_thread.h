// Ends a process whose main thread has left by pthread_exit, once none of the program's own threads is left.
#pragma once

namespace sampan::process {

/// Call it when threads of the runtime may have been started. The system ends a process with its last thread,
/// but threads of the runtime never exit. So after the main thread has exited, a thread of ours waits for the
/// program's last thread. It then calls exit(0), as the system would. Throws ThreadStartError.
void WatchForLastThread();

}  // namespace sampan::process
