// Runs a program: passes signals to it, and exits as it did.
#include "tools/sampan/shared/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
namespace {

/// While it exists, all signals are queued, except those of faulty instructions.
class SignalQueue {
 public:
  SignalQueue() {
    ::sigfillset(&caught_);
    for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT})
      ::sigdelset(&caught_, fault);
    ::sigprocmask(SIG_SETMASK, &caught_, &before_);
    queue_ = ::signalfd(-1, &caught_, SFD_CLOEXEC);
    if (queue_ < 0) throw SystemError("signalfd");
  }
  ~SignalQueue() {
    ::close(queue_);
    Restore();
  }
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// Restores the signal mask, for the child.
  void Restore() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  /// The next signal. Does the watch's work until it arrives.
  signalfd_siginfo Next(const ChildWatch& watch) const {
    pollfd sources[] = {{queue_, POLLIN, 0}, {watch.descriptor, POLLIN, 0}};
    while (watch.descriptor >= 0 && (sources[0].revents & POLLIN) == 0) {
      if (::poll(sources, 2, -1) < 0 && errno != EINTR) throw SystemError("poll");
      if ((sources[1].revents & POLLIN) != 0) watch.on_readable();
    }
    signalfd_siginfo info{};
    while (::read(queue_, &info, sizeof info) != sizeof info) {
      if (errno != EINTR) throw SystemError("signalfd");
    }
    return info;
  }

 private:
  sigset_t caught_;
  sigset_t before_;
  int queue_ = -1;
};

/// The pointers for the system call. The strings must outlive them.
std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words)
    pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Starts the program and returns its process id. Throws if the system cannot execute it.
pid_t Start(const std::filesystem::path& file, const std::vector<std::string>& words,
            const Environment& environment, const SignalQueue& signals) {
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment)
    settings.push_back(name + "=" + value);
  const std::vector<char*> argv = Pointers(words);
  const std::vector<char*> envp = Pointers(settings);
  // execvpe does not search for a path with a slash. It gives a script without a first line to the shell.
  const std::string path =
      file.string().find('/') == std::string::npos ? "./" + file.string() : file.string();

  int ends[2];  // the child sends errno if exec fails
  if (::pipe2(ends, O_CLOEXEC) != 0) throw SystemError("pipe2");
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw SystemError("fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // if this process is killed, the program is too
    if (::getppid() != self) ::_exit(kRunFailed);
    signals.Restore();
    ::execvpe(path.c_str(), argv.data(), envp.data());
    const int reason = errno;
    [[maybe_unused]] const ssize_t written = ::write(ends[1], &reason, sizeof reason);
    ::_exit(kNotExecutable);
  }
  ::close(ends[1]);
  int reason = 0;
  ssize_t got = 0;
  do {
    got = ::read(ends[0], &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  ::close(ends[0]);
  if (got == 0) return child;
  ::waitpid(child, nullptr, 0);
  throw Failure(reason == ENOENT ? kNotFound : kNotExecutable,
                file.string() + " cannot be executed: " + std::generic_category().message(reason) +
                    (reason == ENOENT ? " (its interpreter or loader is missing)" : ""));
}

}  // namespace

Ending RunProgram(const std::filesystem::path& file, const std::vector<std::string>& words,
                  const Environment& environment, const ChildWatch& watch) {
  const SignalQueue signals;
  const pid_t child = Start(file, words, environment, signals);
  while (true) {
    const signalfd_siginfo signal = signals.Next(watch);
    const int number = static_cast<int>(signal.ssi_signo);
    if (number != SIGCHLD) {
      // Signals of the terminal reach the whole foreground group, so also the program.
      if (signal.ssi_code <= 0) ::kill(child, number);
      continue;
    }
    int status = 0;
    while (::waitpid(child, &status, WNOHANG | WUNTRACED) > 0) {
      if (WIFEXITED(status)) return {.exit_status = WEXITSTATUS(status)};
      if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
      ::kill(::getpid(), SIGSTOP);  // the shell then stops and continues the job as a whole
      ::kill(child, SIGCONT);
    }
  }
}

int EndLike(const Ending& ending) {
  if (ending.signal == 0) return ending.exit_status;
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(ending.signal, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, ending.signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(ending.signal);
  return 128 + ending.signal;
}

}  // namespace sampan::tool
