// Hosts on one machine: processes in network namespaces that are joined by cables.
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
#include <tuple>

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

namespace {

/// A child in a namespace of its own. It waits until the parent has laid its cable, and raises the address.
std::pair<pid_t, int> StartHost(const std::function<void(int socket)>& main, const char* address) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw Failure("socketpair failed");
  const pid_t here = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw Failure("fork failed");
  char ready = 1;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != here) ::_exit(1);
    ::close(ends[0]);
    try {
      EnterNetwork();
      SendAll(ends[1], &ready, 1);     // the parent lays the cable
      ReceiveAll(ends[1], &ready, 1);  // and has done so
      Raise(address);
      SendAll(ends[1], &ready, 1);
      main(ends[1]);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "%s\n", failure.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  ReceiveAll(ends[0], &ready, 1);
  return {child, ends[0]};
}

/// The cable is laid.
void GoOn(int socket) {
  char ready = 1;
  SendAll(socket, &ready, 1);
  ReceiveAll(socket, &ready, 1);
}

void EndHost(pid_t child, int socket) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(socket);
}

}  // namespace

OtherHost::OtherHost(const std::function<void(int socket)>& main) {
  std::tie(child_, socket_) = StartHost(main, kThere);
  EnterNetwork();
  RunIp("link add sam0 type veth peer name sam0 netns " + std::to_string(child_));
  Raise(kHere);
  GoOn(socket_);
}

OtherHost::~OtherHost() {
  EndHost(child_, socket_);
}

HostGroup::HostGroup(std::size_t count, const std::function<void(std::size_t index, int socket)>& main) {
  EnterNetwork();
  RunIp("link add bridge0 type bridge");
  RunIp("link set bridge0 up");
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "sam" + std::to_string(i);
    const std::string address = "10.215.0." + std::to_string(i + 1);
    const auto [child, socket] = StartHost([&](int told) { main(i, told); }, address.c_str());
    hosts_.emplace_back(child, socket);
    RunIp("link add " + name + " type veth peer name sam0 netns " + std::to_string(child));
    RunIp("link set " + name + " master bridge0 up");
    GoOn(socket);
  }
}

HostGroup::~HostGroup() {
  for (const auto& [child, socket] : hosts_)
    EndHost(child, socket);
}

}  // namespace bench
