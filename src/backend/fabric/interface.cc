// The network interface that a process listens on.
#include "backend/fabric/interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <tuple>

#include "base/error/text.h"

namespace sampan::fabric {
namespace {

bool IsUsable(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return false;
  if (entry.ifa_addr->sa_family == AF_INET) return true;
  if (entry.ifa_addr->sa_family != AF_INET6) return false;
  return !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(*entry.ifa_addr).sin6_addr);
}

/// One entry of HCCL_SOCKET_IFNAME.
bool Names(std::string_view pattern, std::string_view name, bool& excludes) {
  excludes = pattern.starts_with('^');
  if (excludes) pattern.remove_prefix(1);
  if (!pattern.starts_with('=')) return name.starts_with(pattern);
  return name == pattern.substr(1);
}

bool FitsNames(std::string_view patterns, std::string_view name) {
  bool fits = false, only_excluded = true;
  while (!patterns.empty()) {
    const std::string_view pattern = patterns.substr(0, patterns.find(','));
    patterns.remove_prefix(std::min(patterns.size(), pattern.size() + 1));
    bool excludes = false;
    const bool named = Names(pattern, name, excludes);
    if (named && excludes) return false;
    only_excluded = only_excluded && excludes;
    fits = fits || named;
  }
  return fits || only_excluded;
}

int Rank(const std::string& name) {
  if (name == "lo") return 2;
  return name.starts_with("docker") ? 1 : 0;
}

}  // namespace

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

std::vector<InterfaceAddress> UsableInterfaces() {
  std::vector<InterfaceAddress> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, &::freeifaddrs);
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (IsUsable(*each)) found.push_back({each->ifa_name, FromSocket(*each->ifa_addr)});
  }
  return found;
}

Result<PeerAddress> ChooseInterface(const InterfaceWish& wish, std::vector<InterfaceAddress> interfaces) {
  std::stable_sort(interfaces.begin(), interfaces.end(), [](const auto& one, const auto& other) {
    return std::tuple(Rank(one.name), one.name, one.address.version) <
           std::tuple(Rank(other.name), other.name, other.address.version);
  });
  for (const auto& [name, address] : interfaces) {
    if (wish.address.empty() && !wish.names.empty() && !FitsNames(wish.names, name)) continue;
    if (!wish.address.empty() && HostText(address) != wish.address) continue;
    if (wish.address.empty() && wish.family == "AF_INET6" && address.version != 6) continue;
    if (wish.address.empty() && wish.family == "AF_INET" && address.version != 4) continue;
    return address;
  }
  if (!wish.address.empty())
    return Error{Code::kParamInvalid,
                 Text("HCCL_IF_IP is ", wish.address, ", no interface has this address")};
  if (!wish.names.empty() || !wish.family.empty()) {
    return Error{Code::kParamInvalid,
                 Text("HCCL_SOCKET_IFNAME is '", wish.names, "' and HCCL_SOCKET_FAMILY '", wish.family,
                      "': no interface that is up fits both")};
  }
  return Error{Code::kFeatureNotSupport, "no network interface is up"};
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

}  // namespace sampan::fabric
