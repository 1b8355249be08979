// After the main thread has called pthread_exit, exits the process with the program's last thread.
#pragma once

namespace sampan::process {

/// Call it after threads of the runtime may have been started. A process exits with its last thread, but
/// threads of the runtime never exit. So after the main thread has exited, a thread of the runtime waits for
/// the program's last thread. It then calls exit(0), as the system would. Throws ThreadStartError.
void WatchForLastThread();

}  // namespace sampan::process
