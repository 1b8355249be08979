// Sockets that libfabric makes: finds them, keeps them out of programs that this process starts, and keeps
// their queues short.
#include "backend/fabric/provider/kept_sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "base/network/interface.h"

namespace sampan::fabric {
namespace {

/// Two of the longest segments that the system makes. With 512 KiB and more, 64 MiB take as long as without a
/// bound. With 64 KiB and less, they take less time (bench_hosts). But that is the cache of one machine,
/// which other hosts do not share.
constexpr int kMaxUnsentBytes = 128 << 10;

bool IsBoundTo(int socket, const PeerAddress& address) {
  SocketAddress name;
  int type = 0;
  socklen_t length = sizeof(type);
  return ::getsockname(socket, name.get(), &name.length) == 0 && FromSocket(*name.get()) == address &&
         ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

/// Above all descriptors of this process. Listing them would take ten times as long as asking each number.
int DescriptorsEnd() {
  constexpr std::string_view kSize = "FDSize:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kSize)) return std::atoi(line.c_str() + kSize.size());
  }
  return 0;
}

}  // namespace

std::vector<int> SocketsBoundTo(const PeerAddress& bound) {
  std::vector<int> found;
  const int end = DescriptorsEnd();
  for (int socket = 0; socket < end; ++socket) {
    if (IsBoundTo(socket, bound)) found.push_back(socket);
  }
  return found;
}

void PrepareSockets(const PeerAddress& bound) {
  const int end = DescriptorsEnd();
  for (int socket = 0; socket < end; ++socket) {
    const int flags = ::fcntl(socket, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0 || !IsBoundTo(socket, bound)) continue;
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    ::setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kMaxUnsentBytes, sizeof(kMaxUnsentBytes));
  }
}

}  // namespace sampan::fabric
