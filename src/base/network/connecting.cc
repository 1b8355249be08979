// Connections that are never waited for without a limit.
#include "base/network/connecting.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <chrono>

namespace sampan {

bool AwaitSocket(int socket, short events, Deadline until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waited = {socket, events, 0};
    if (::poll(&waited, 1, static_cast<int>(left)) > 0) return true;
  }
}

int ConnectBy(int socket, const SocketAddress& address, Deadline until) {
  if (::connect(socket, address.get(), address.length) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  if (!AwaitSocket(socket, POLLOUT, until)) return kConnectedLate;
  int error = 0;
  socklen_t length = sizeof(error);
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

void LimitSilence(int socket, int limit_ms) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(IPPROTO_TCP, TCP_KEEPCNT, std::max(1, limit_ms / 1000 - 1));
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, limit_ms);
}

}  // namespace sampan
