// A child process that serves requests, so that work runs with settings of its own.
#include "tools/sampan/bench/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <new>
#include <utility>
#include <vector>

#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/process/interrupt.h"

namespace sampan::tool {
namespace {

/// The first byte of a message from the child.
constexpr char kReplied = '+', kRefused = '-';

std::string MessageFor(const WorkerProcess::Reply& reply, std::string_view request) {
  std::string message;
  try {
    message = kReplied + reply(request);
  } catch (const std::bad_alloc&) {
    message = kRefused + std::string("there is not enough memory");
  } catch (const std::exception& failure) {
    message = kRefused + std::string(failure.what());
  }
  return message.substr(0, WorkerProcess::kMaxReplyBytes);
}

/// A pair of connected sockets. Their numbers are above those of the standard streams, even if these are
/// closed.
std::array<int, 2> ConnectedPair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw SystemError("socketpair");
  for (int& end : ends) {
    const int moved = ::fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) throw SystemError("fcntl");
    ::close(std::exchange(end, moved));
  }
  return ends;
}

/// The child's main function.
[[noreturn]] void Serve(int connection, const std::function<WorkerProcess::Reply()>& begin) {
  try {
    const WorkerProcess::Reply reply = begin();
    std::array<char, WorkerProcess::kMaxRequestBytes> request;
    for (ssize_t got; (got = ::recv(connection, request.data(), request.size(), 0)) > 0;) {
      const std::string message = MessageFor(reply, {request.data(), static_cast<std::size_t>(got)});
      if (::send(connection, message.data(), message.size(), MSG_NOSIGNAL) < 0) break;
    }
  } catch (...) {
    ::_exit(kCheckFailed);
  }
  ::_exit(kSuccess);
}

}  // namespace

WorkerProcess::WorkerProcess(std::string name, const std::function<Reply()>& begin) : name_(std::move(name)) {
  const std::array<int, 2> ends = ConnectedPair();
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kCheckFailed);
    ::close(ends[0]);
    Serve(ends[1], begin);
  }
  ::close(ends[1]);
  connection_ = ends[0];
  if (process_ > 0) return;
  const Failure failure = SystemError("fork");
  ::close(connection_);
  throw failure;
}

WorkerProcess::~WorkerProcess() {
  ::close(connection_);
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);  // it has nothing to save
  ::waitpid(process_, nullptr, 0);
}

/// Returns false after an interrupt.
bool WorkerProcess::AwaitReply() const {
  constexpr int kPollMilliseconds = 50;
  pollfd waiting{connection_, POLLIN, 0};
  while (Interrupted() == 0) {
    if (::poll(&waiting, 1, kPollMilliseconds) > 0) return true;
  }
  return false;
}

std::string WorkerProcess::WhyGone() {
  if (process_ <= 0) return name_ + " has ended";
  int status = 0;
  ::waitpid(std::exchange(process_, -1), &status, 0);
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) + " ended " + name_
                             : name_ + " ended with status " + std::to_string(WEXITSTATUS(status));
}

std::optional<std::string> WorkerProcess::Ask(std::string_view request) {
  if (request.empty() || request.size() > kMaxRequestBytes)
    throw std::length_error("a request of " + std::to_string(request.size()) + " bytes");
  std::vector<char> message(kMaxReplyBytes);
  ssize_t got = ::send(connection_, request.data(), request.size(), MSG_NOSIGNAL);
  if (got > 0) {
    if (!AwaitReply()) return std::nullopt;
    got = ::recv(connection_, message.data(), message.size(), 0);
  }
  if (Interrupted() != 0) return std::nullopt;  // the reply may be a result of the interrupt
  if (got <= 0) throw Failure(kCheckFailed, WhyGone());
  std::string text(message.data() + 1, static_cast<std::size_t>(got) - 1);
  if (message.front() == kRefused) throw Failure(kCheckFailed, text);
  return text;
}

}  // namespace sampan::tool
