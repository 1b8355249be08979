// A child process that answers requests, so that something runs with settings of its own.
#include "tools/sampan/bench/answering_process.h"

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

/// What a message from the child begins with.
constexpr char kAnswered = '+', kRefused = '-';

std::string MessageFor(const AnsweringProcess::Answer& answer, std::string_view request) {
  std::string message;
  try {
    message = kAnswered + answer(request);
  } catch (const std::bad_alloc&) {
    message = kRefused + std::string("there is not enough memory");
  } catch (const std::exception& failure) {
    message = kRefused + std::string(failure.what());
  }
  return message.substr(0, AnsweringProcess::kMostAnswer);
}

/// A pair of connected sockets, out of the way of standard streams that are closed.
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

/// The child's life.
[[noreturn]] void Serve(int connection, const std::function<AnsweringProcess::Answer()>& begin) {
  try {
    const AnsweringProcess::Answer answer = begin();
    std::array<char, AnsweringProcess::kMostRequest> request;
    for (ssize_t got; (got = ::recv(connection, request.data(), request.size(), 0)) > 0;) {
      const std::string message = MessageFor(answer, {request.data(), static_cast<std::size_t>(got)});
      if (::send(connection, message.data(), message.size(), MSG_NOSIGNAL) < 0) break;
    }
  } catch (...) {
    ::_exit(kCheckFailed);
  }
  ::_exit(kSuccess);
}

}  // namespace

AnsweringProcess::AnsweringProcess(std::string name, const std::function<Answer()>& begin)
    : name_(std::move(name)) {
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

AnsweringProcess::~AnsweringProcess() {
  ::close(connection_);
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);  // it has nothing that would have to be kept
  ::waitpid(process_, nullptr, 0);
}

/// False after an interrupt.
bool AnsweringProcess::AwaitAnswer() const {
  constexpr int kLookAgainMilliseconds = 50;
  pollfd waiting{connection_, POLLIN, 0};
  while (Interrupted() == 0) {
    if (::poll(&waiting, 1, kLookAgainMilliseconds) > 0) return true;
  }
  return false;
}

std::string AnsweringProcess::WhyGone() {
  if (process_ <= 0) return name_ + " has ended";
  int status = 0;
  ::waitpid(std::exchange(process_, -1), &status, 0);
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) + " ended " + name_
                             : name_ + " ended with status " + std::to_string(WEXITSTATUS(status));
}

std::optional<std::string> AnsweringProcess::Ask(std::string_view request) {
  if (request.empty() || request.size() > kMostRequest)
    throw std::length_error("a request of " + std::to_string(request.size()) + " bytes");
  std::vector<char> message(kMostAnswer);
  ssize_t got = ::send(connection_, request.data(), request.size(), MSG_NOSIGNAL);
  if (got > 0) {
    if (!AwaitAnswer()) return std::nullopt;
    got = ::recv(connection_, message.data(), message.size(), 0);
  }
  if (Interrupted() != 0) return std::nullopt;  // what came may be only what the interrupt did to the child
  if (got <= 0) throw Failure(kCheckFailed, WhyGone());
  std::string text(message.data() + 1, static_cast<std::size_t>(got) - 1);
  if (message.front() == kRefused) throw Failure(kCheckFailed, text);
  return text;
}

}  // namespace sampan::tool
