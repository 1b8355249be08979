// Two network namespaces joined by a cable: this process is one host, its child the other.
#include "bench/hosts/two_networks.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "bench/measure/failure.h"

namespace bench {
namespace {

void RunIp(const std::string& arguments) {
  const std::string command = "ip " + arguments;
  if (std::system(command.c_str()) != 0) throw Failure("'" + command + "' failed");
}

void EnterNetwork() {
  if (::unshare(CLONE_NEWNET) != 0)
    throw Failure(std::string("a network namespace cannot be made here (root is needed): ") +
                  std::strerror(errno));
}

void Raise(const char* address) {
  RunIp(std::string("addr add ") + address + "/24 dev sam0");
  RunIp("link set sam0 up");
  RunIp("link set lo up");
}

}  // namespace

void SendAll(int socket, const void* bytes, std::size_t count) {
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t sent = ::send(socket, at, count, MSG_NOSIGNAL);
    if (sent <= 0) throw Failure(std::string("send: ") + std::strerror(errno));
    at += sent;
    count -= static_cast<std::size_t>(sent);
  }
}

void ReceiveAll(int socket, void* bytes, std::size_t count) {
  auto* at = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t received = ::recv(socket, at, count, 0);
    if (received <= 0) throw Failure("recv: the other side is gone");
    at += received;
    count -= static_cast<std::size_t>(received);
  }
}

OtherHost::OtherHost(const std::function<void(int socket)>& main) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw Failure("socketpair failed");
  const pid_t here = ::getpid();
  child_ = ::fork();
  if (child_ < 0) throw Failure("fork failed");
  char ready = 1;
  if (child_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != here) ::_exit(1);
    ::close(ends[0]);
    try {
      EnterNetwork();
      SendAll(ends[1], &ready, 1);     // the parent lays the cable
      ReceiveAll(ends[1], &ready, 1);  // and has done so
      Raise(kThere);
      SendAll(ends[1], &ready, 1);
      main(ends[1]);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "%s\n", failure.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  socket_ = ends[0];
  EnterNetwork();
  ReceiveAll(socket_, &ready, 1);
  RunIp("link add sam0 type veth peer name sam0 netns " + std::to_string(child_));
  Raise(kHere);
  SendAll(socket_, &ready, 1);
  ReceiveAll(socket_, &ready, 1);
}

OtherHost::~OtherHost() {
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  ::close(socket_);
}

}  // namespace bench
