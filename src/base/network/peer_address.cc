// The address of a process in the network.
#include "base/network/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>

#include "base/error/text.h"

namespace sampan {

SocketAddress ToSocket(const PeerAddress& address) {
  SocketAddress socket;
  if (address.version == 6) {
    auto& name = reinterpret_cast<sockaddr_in6&>(socket.storage);
    name.sin6_family = AF_INET6;
    name.sin6_port = htons(address.port);
    std::memcpy(&name.sin6_addr, address.host.data(), 16);
    socket.length = sizeof(name);
  } else {
    auto& name = reinterpret_cast<sockaddr_in&>(socket.storage);
    name.sin_family = AF_INET;
    name.sin_port = htons(address.port);
    std::memcpy(&name.sin_addr, address.host.data(), 4);
    socket.length = sizeof(name);
  }
  return socket;
}

PeerAddress FromSocket(const sockaddr& socket) {
  PeerAddress address;
  if (socket.sa_family == AF_INET) {
    const auto& name = reinterpret_cast<const sockaddr_in&>(socket);
    address.version = 4;
    address.port = ntohs(name.sin_port);
    std::memcpy(address.host.data(), &name.sin_addr, 4);
  } else if (socket.sa_family == AF_INET6) {
    const auto& name = reinterpret_cast<const sockaddr_in6&>(socket);
    address.version = 6;
    address.port = ntohs(name.sin6_port);
    std::memcpy(address.host.data(), &name.sin6_addr, 16);
  }
  return address;
}

std::optional<PeerAddress> ParseAddress(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool in_brackets = text.starts_with('[');
  const bool is_plain_v6 = !in_brackets && text.find(':') != colon;
  std::string_view host = text, port;
  if (!is_plain_v6 && colon != std::string_view::npos && !text.ends_with(']')) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) return std::nullopt;
  }
  if (in_brackets) {
    if (!host.ends_with(']')) return std::nullopt;
    host = host.substr(1, host.size() - 2);
  }
  PeerAddress address;
  address.version = in_brackets || is_plain_v6 ? 6 : 4;
  if (::inet_pton(address.version == 6 ? AF_INET6 : AF_INET, std::string(host).c_str(),
                  address.host.data()) != 1)
    return std::nullopt;
  const char* const end = port.data() + port.size();
  if (!port.empty() && (std::from_chars(port.data(), end, address.port).ptr != end || address.port == 0))
    return std::nullopt;
  return address;
}

std::string HostText(const PeerAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(address.version == 6 ? AF_INET6 : AF_INET, address.host.data(), text, sizeof(text));
  return text;
}

std::string Describe(const PeerAddress& address) {
  const bool brackets = address.version == 6;
  return Text(brackets ? "[" : "", HostText(address), brackets ? "]:" : ":", address.port);
}

}  // namespace sampan
