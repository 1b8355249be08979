// Runs a function in a child process and returns its standard output.
#include "tools/sampan/shared/process/child_output.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
ChildOutput OutputOfChild(const std::function<int()>& body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw SystemError("pipe2");
  const pid_t child = ::fork();
  if (child < 0) throw SystemError("fork");
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, STDIN_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::_exit(body());
  }
  ::close(ends[1]);
  ChildOutput output;
  std::array<char, 4096> part;
  for (ssize_t got; (got = ::read(ends[0], part.data(), part.size())) != 0;) {
    if (got > 0)
      output.text.append(part.data(), static_cast<std::size_t>(got));
    else if (errno != EINTR)
      break;
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) output.status = WEXITSTATUS(status);
  return output;
}

}  // namespace sampan::tool
