// Sockets that libfabric makes: finds them, and keeps them out of programs that this process starts.
#include "backend/fabric/kept_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/network/interface.h"

namespace sampan::fabric {
namespace {

bool IsBoundTo(int socket, const PeerAddress& address) {
  SocketAddress name;
  int type = 0;
  socklen_t length = sizeof(type);
  return ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM &&
         ::getsockname(socket, name.get(), &name.length) == 0 && FromSocket(*name.get()) == address;
}

}  // namespace

std::vector<int> SocketsBoundTo(const PeerAddress& bound) {
  std::vector<int> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int socket = -1;
    std::from_chars(name.data(), name.data() + name.size(), socket);
    if (IsBoundTo(socket, bound)) found.push_back(socket);
  }
  return found;
}

void KeepFromChildren(const PeerAddress& bound) {
  for (const int socket : SocketsBoundTo(bound))
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
}

}  // namespace sampan::fabric
