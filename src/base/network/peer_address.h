// The address of a process in the network.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sampan {

/// Where a process listens. All zeros: it does not.
struct PeerAddress {
  std::array<std::uint8_t, 16> host{};  ///< an IPv4 address takes the first four bytes
  std::uint16_t second_port = 0;        ///< for the second connection of an import; 0: there is none
  std::uint16_t reserved = 0;
  std::uint16_t port = 0;
  std::uint16_t version = 0;  ///< 4, 6, or 0: none

  bool operator==(const PeerAddress&) const = default;
};

/// An address as the system's calls take it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
SocketAddress ToSocket(const PeerAddress& address);
PeerAddress FromSocket(const sockaddr& socket);

/// Reads "10.0.0.1", "10.0.0.1:60000", "fd00::1" or "[fd00::1]:60000". Without a port it is 0. Nothing if the
/// text has another form.
std::optional<PeerAddress> ParseAddress(std::string_view text);

/// The address in digits, and with its port.
std::string HostText(const PeerAddress& address);
std::string Describe(const PeerAddress& address);

}  // namespace sampan
