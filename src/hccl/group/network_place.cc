// Where rank 0 of a group of several hosts listens.
#include "hccl/group/network_place.h"

#include <sys/socket.h>

#include <charconv>
#include <vector>

#include "base/network/interface.h"
#include "base/network/port_ranges.h"
#include "base/system/descriptor.h"
#include "base/system/environment.h"
#include "hccl/group/meeting_point.h"
#include "hccl/report.h"

namespace sampan::hccl {
namespace {

constexpr const char* kRanges = "HCCL_HOST_SOCKET_PORT_RANGE";
constexpr const char* kBase = "HCCL_IF_BASE_PORT";
constexpr std::uint16_t kDefaultBase = 60000, kMinBase = 1024, kMaxBase = 65520, kBaseCount = 32;

/// The ports that the variables name. Port 0 stands for any.
HcclResult ReadPorts(const char* function, std::vector<PortRange>& ports) {
  if (const auto text = EnvironmentValue(kRanges)) {
    if (*text == "auto") {
      ports = {{0, 0}};
      return HCCL_SUCCESS;
    }
    const auto ranges = ParsePortRanges(*text);
    if (!ranges) {
      return Fail(
          function, HCCL_E_PARA,
          Text("EI0001: ", kRanges, " is '", *text, "', it must be auto, or ports as in 60000-60050,60100"));
    }
    ports = *ranges;
    return HCCL_SUCCESS;
  }
  const std::string text = EnvironmentValue(kBase).value_or(std::to_string(kDefaultBase));
  std::uint16_t base = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, base).ptr != end || base < kMinBase || base > kMaxBase) {
    return Fail(
        function, HCCL_E_PARA,
        Text("EI0001: ", kBase, " is '", text, "', it must be a number from ", kMinBase, " to ", kMaxBase));
  }
  ports = {{base, static_cast<std::uint16_t>(std::min(base + kBaseCount - 1, UINT16_MAX))}};
  return HCCL_SUCCESS;
}

/// Returns true if a process can listen there now. Sets a port that is 0. It does not listen itself: that
/// could refuse a rank 0 that begins to listen.
bool IsFree(PeerAddress& address) {
  SocketAddress name = ToSocket(address);
  const Descriptor socket(::socket(name.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(socket.get(), name.get(), name.length) != 0 ||
      ::getsockname(socket.get(), name.get(), &name.length) != 0)
    return false;
  address.port = FromSocket(*name.get()).port;
  return true;
}

}  // namespace

HcclResult ReadPlace(const char* function, const std::string& text, PeerAddress& address) {
  const auto read = ParseAddress(text);
  if (!read) {
    return Fail(function, HCCL_E_PARA,
                Text("address is '", text, "', it must be as in 10.0.0.1:60000 or [fd00::1]:60000"));
  }
  address = *read;
  if (address.port != 0) return HCCL_SUCCESS;
  std::vector<PortRange> ports;
  if (const HcclResult result = ReadPorts(function, ports); result != HCCL_SUCCESS) return result;
  address.port = ports.front().first;
  if (address.port != 0) return HCCL_SUCCESS;
  return Fail(
      function, HCCL_E_PARA,
      Text("address '", text, "' has no port, and ", kRanges, " is auto: ranks cannot know the port"));
}

namespace {

HcclResult FindPlace(const char* function, const std::vector<PortRange>& ports, bool (*is_free)(PeerAddress&),
                     PeerAddress& address) {
  auto chosen = ChooseInterface(ReadInterfaceWish(), UsableInterfaces());
  if (!chosen.ok()) {
    const bool is_wish = chosen.code() == Code::kParamInvalid;
    return Fail(function, is_wish ? HCCL_E_PARA : HCCL_E_NOT_FOUND, chosen.error().message);
  }
  address = *chosen;
  for (const PortRange& range : ports) {
    for (u32 port = range.first; port <= range.last; ++port) {
      address.port = static_cast<std::uint16_t>(port);
      if (is_free(address)) return HCCL_SUCCESS;
    }
  }
  return Fail(function, HCCL_E_UNAVAIL,
              Text("EI0019: no port of ", HostText(address), " is free among those that ", kRanges, " and ",
                   kBase, " name"));
}

}  // namespace

HcclResult ChoosePlace(const char* function, PeerAddress& address) {
  std::vector<PortRange> ports;
  const HcclResult result = ReadPorts(function, ports);
  return result == HCCL_SUCCESS ? FindPlace(function, ports, IsFree, address) : result;
}

HcclResult ReservePlace(const char* function, PeerAddress& address) {
  std::vector<PortRange> ports;
  if (const HcclResult result = ReadPorts(function, ports); result != HCCL_SUCCESS) return result;
  // All ranks are told the port, so it may be any, if the user wishes none.
  if (!EnvironmentValue(kRanges) && !EnvironmentValue(kBase)) ports.push_back({0, 0});
  return FindPlace(function, ports, Reserve, address);
}

}  // namespace sampan::hccl
