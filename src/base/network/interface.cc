// The network interface that a process listens on.
#include "base/network/interface.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <tuple>

#include "base/error/text.h"
#include "base/system/environment.h"

namespace sampan {
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

InterfaceWish ReadInterfaceWish() {
  return {EnvironmentValue("HCCL_IF_IP").value_or(""), EnvironmentValue("HCCL_SOCKET_IFNAME").value_or(""),
          EnvironmentValue("HCCL_SOCKET_FAMILY").value_or("")};
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

}  // namespace sampan
