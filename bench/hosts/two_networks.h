// Hosts on one machine: processes in network namespaces that are joined by cables.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// A child process on a host of its own, and a socket to it. The namespaces end with the two processes.
class OtherHost {
 public:
  static constexpr const char* kHere = "10.214.0.1";
  static constexpr const char* kThere = "10.214.0.2";

  /// Runs `main` in the child, with its end of the socket. Must come before the first call of the runtime.
  /// Throws a Failure if namespaces are not allowed here.
  explicit OtherHost(const std::function<void(int socket)>& main);
  /// Kills the child.
  ~OtherHost();
  OtherHost(const OtherHost&) = delete;
  OtherHost& operator=(const OtherHost&) = delete;

  int socket() const { return socket_; }

 private:
  pid_t child_ = -1;
  int socket_ = -1;
};

/// Child processes with a socket to each of them. Each has a host of its own; one bridge joins the hosts.
class HostGroup {
 public:
  /// Runs `main` in each child. Otherwise like OtherHost.
  HostGroup(std::size_t count, const std::function<void(std::size_t index, int socket)>& main);
  /// Kills the children.
  ~HostGroup();
  HostGroup(const HostGroup&) = delete;
  HostGroup& operator=(const HostGroup&) = delete;

  std::size_t size() const { return hosts_.size(); }
  int socket(std::size_t index) const { return hosts_[index].second; }

 private:
  std::vector<std::pair<pid_t, int>> hosts_;
};

/// Sends or receives all bytes. Throws a Failure if the other side is gone.
void SendAll(int socket, const void* bytes, std::size_t count);
void ReceiveAll(int socket, void* bytes, std::size_t count);

}  // namespace bench
