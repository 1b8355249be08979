// The calls of the C library that change how signals are handled.
#include "check/host/signal_calls.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include <array>
#include <cerrno>

#include "check/host/host_faults.h"

namespace sampan::check {
namespace {

// The parameters have the names of the C library's.
// NOLINTBEGIN(readability-identifier-naming)

/// A handler of the program must not run with our signals blocked: its accesses are judged as well.
int Sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  if (action == nullptr) {
    if (ReplaceHandler(signal, nullptr, before)) return 0;
    return ::sigaction(signal, action, before);
  }
  struct sigaction open = *action;
  LeaveOurSignals(open.sa_mask);
  if (ReplaceHandler(signal, &open, before)) return 0;
  return ::sigaction(signal, &open, before);
}
sighandler_t Signal(int signal, sighandler_t handler) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  struct sigaction before = {};
  if (ReplaceHandler(signal, &action, &before)) return before.sa_handler;
  return ::signal(signal, handler);
}
int ThreadMask(int how, const sigset_t* set, sigset_t* before) {
  if (set == nullptr || how == SIG_UNBLOCK) return ::pthread_sigmask(how, set, before);
  sigset_t open = *set;
  LeaveOurSignals(open);
  return ::pthread_sigmask(how, &open, before);
}
int ProcessMask(int how, const sigset_t* set, sigset_t* before) {
  const int error = ThreadMask(how, set, before);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

/// What `signal` does in programs that ask for strict standards: the handler serves once.
sighandler_t SignalOnce(int signal, sighandler_t handler) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER;
  struct sigaction before = {};
  if (ReplaceHandler(signal, &action, &before)) return before.sa_handler;
  return ::sigaction(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

// While these wait, handlers of the program run with the mask that they are given.

/// The mask without our signals; null stays null.
class OpenMask {
 public:
  explicit OpenMask(const sigset_t* asked) {
    if (asked == nullptr) return;
    mask_ = *asked;
    LeaveOurSignals(mask_);
    given_ = &mask_;
  }
  const sigset_t* get() const { return given_; }

 private:
  sigset_t mask_ = {};
  const sigset_t* given_ = nullptr;
};

int Suspend(const sigset_t* mask) {
  return ::sigsuspend(OpenMask(mask).get());  // NOLINT(concurrency-mt-unsafe): of the calling thread alone
}
int SelectWithMask(int count, fd_set* read, fd_set* write, fd_set* other, const timespec* limit,
                   const sigset_t* mask) {
  return ::pselect(count, read, write, other, limit, OpenMask(mask).get());
}
int PollWithMask(pollfd* files, nfds_t count, const timespec* limit, const sigset_t* mask) {
  return ::ppoll(files, count, limit, OpenMask(mask).get());
}
int EpollWithMask(int file, epoll_event* events, int count, int limit_ms, const sigset_t* mask) {
  return ::epoll_pwait(file, events, count, limit_ms, OpenMask(mask).get());
}

// NOLINTEND(readability-identifier-naming)

}  // namespace

std::span<const Redirection> SignalCalls() noexcept {
  static const std::array calls = {To("sigaction", &Sigaction),        To("signal", &Signal),
                                   To("bsd_signal", &Signal),          To("ssignal", &Signal),
                                   To("sysv_signal", &SignalOnce),     To("__sysv_signal", &SignalOnce),
                                   To("pthread_sigmask", &ThreadMask), To("sigprocmask", &ProcessMask),
                                   To("sigsuspend", &Suspend),         To("pselect", &SelectWithMask),
                                   To("ppoll", &PollWithMask),         To("epoll_pwait", &EpollWithMask)};
  return calls;
}

int SystemSigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  return ::sigaction(signal, action, before);
}

}  // namespace sampan::check
