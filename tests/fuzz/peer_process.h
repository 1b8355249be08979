// A process of its own that stays until the fuzzed one exits.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <type_traits>

#include "tests/fuzz/fuzz_failure.h"

namespace sampan::fuzz {

/// Forks. The child runs `make`, tells what it returned, and pauses. Call it before there are threads.
template <typename Make>
auto StartPeer(const Make& make, pid_t* process = nullptr) {
  using Told = decltype(make());
  static_assert(std::is_trivially_copyable_v<Told>);
  int told[2];
  if (::pipe(told) != 0) FailInput("pipe", errno);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const Told value = make();
    if (::write(told[1], &value, sizeof(value)) != sizeof(value)) ::_exit(1);
    for (;;)
      ::pause();
  }
  ::close(told[1]);
  Told value{};
  if (child < 0 || ::read(told[0], &value, sizeof(value)) != sizeof(value))
    FailInput("the peer did not begin", errno);
  ::close(told[0]);
  if (process != nullptr) *process = child;
  return value;
}

}  // namespace sampan::fuzz
