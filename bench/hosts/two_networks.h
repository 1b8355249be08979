// Two network namespaces joined by a cable: this process is one host, its child the other.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

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

/// Sends or receives all bytes. Throws a Failure if the other side is gone.
void SendAll(int socket, const void* bytes, std::size_t count);
void ReceiveAll(int socket, void* bytes, std::size_t count);

}  // namespace bench
