// A memory barrier in all threads of the process: the rare side pays, so that the frequent side needs none.
#include "base/threads/process_barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace sampan {
namespace {

bool Command(int command) noexcept {
  return ::syscall(SYS_membarrier, command, 0U, 0) == 0;
}

bool Register() noexcept {
  return Command(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

/// Asks when the library is loaded, usually by the only thread. Once other threads run, it takes 10 ms, which
/// the first copy would wait for.
[[gnu::constructor]] void AskEarly() noexcept {
  static_cast<void>(HasProcessBarrier());
}

}  // namespace

bool HasProcessBarrier() noexcept {
  static const bool has = Register() && Command(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  return has;
}

bool ProcessBarrier() noexcept {
  const int error = errno;  // Callers release memory, and must not change it.
  const bool done = Command(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
                    (errno == EPERM && Register() && Command(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
  errno = error;
  return done;
}

}  // namespace sampan
